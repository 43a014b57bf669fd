import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x

f(np.arange(3))

#> E0603: f: argument x must have dtype f64, not i64
#>    help: convert it: x.astype(np.float64)
