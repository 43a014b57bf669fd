import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64):
    def g(u):
        return u + len(u)
    return g(x) + g(y)

#> E0261: the function g has 2 readings that insert equally little
#>   --> E0261.py:12:16, in f
#>    12 |         return u + len(u)
#>       |                ^^^^^^^^^^
#>    note: reading 1: line 12: map(add, u, rep(len(u))); line 13: map(add, g(x), g(rep(y)))
#>    note: reading 2: line 12: u + len(rep(u)); line 13: map(add, map(g, x), rep(g(y)))
#>    help: write `u: f64[n]` for reading 1, `u: f64` for reading 2
