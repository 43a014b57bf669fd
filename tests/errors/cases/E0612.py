import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m]) -> f64[n, m]:
    return 2 * x

f(np.zeros((0, 2**58)))

#> E0612: f: size m is 288230376151711744, and sizes are below 2**46
#>    help: pass arrays that exist: no memory is that large
