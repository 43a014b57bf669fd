import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return sum(x) * y


@at.fn
def g(x: f64[n], y: f64):
    return grad(f, wrt=("x", 0))(x, y)

#> E1014: wrt names x twice
#>   --> E1014_inside.py:16:12, in g
#>    16 |     return grad(f, wrt=("x", 0))(x, y)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: name every argument once
