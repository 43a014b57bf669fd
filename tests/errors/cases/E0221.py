import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return x[0, 0]

#> E0221: 2 indices for 1 axis
#>   --> E0221.py:11:12, in f
#>    11 |     return x[0, 0]
#>       |            ^^^^^^^
#>    found:    f64[n]
#>    help: give one index per axis at most
