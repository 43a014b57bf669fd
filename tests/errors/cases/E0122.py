import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    scale = 2.0
    def g(v):
        return scale * v
    scale = 3.0
    return g(x)

#> E0122: g uses scale, which has been rebound since g was defined
#>   --> E0122.py:15:12, in f
#>    15 |     return g(x)
#>       |            ^^^^
#>    help: define g after the last change of scale, or keep the value it has here as a default: scale=scale
