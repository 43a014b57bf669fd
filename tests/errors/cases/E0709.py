import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n - 2]:
    return x[1:-1]

f(np.zeros(1))

#> E0709: f: x[1:-1] (line 11) needs n >= 2, but n is 1
#>    help: call it with sizes for which that holds
