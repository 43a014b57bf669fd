import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    def g(h, v):
        return h(h, v)
    return g(g, x)

#> E0120: g calls itself
#>   --> E0120.py:12:16, in f
#>    12 |         return h(h, v)
#>       |                ^^^^^^^
#>    help: make it a top-level @at.fn function with an annotated result
