import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def g(x: f64) -> f64:
    return x

@at.fn
def f(x: f64) -> f64:
    return g(x, x)

#> E0235: g takes 1 argument, not 2
#>   --> E0235.py:15:12, in f
#>    15 |     return g(x, x)
#>       |            ^^^^^^^
#>    help: give as many as it takes
