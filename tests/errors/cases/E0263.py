import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)

@at.fn
def f(x: f64[n]):
    return map(dot, x, x)

#> E0263: map(...) applies dot to elements of another rank
#>   --> E0263.py:15:12, in f
#>    15 |     return map(dot, x, x)
#>       |            ^^^^^^^^^^^^^^
#>    expected: 1 axis
#>    found:    a scalar (f64)
#>    help: write map(lambda x, y: dot(x, y), ...) to lift dot inside the map
