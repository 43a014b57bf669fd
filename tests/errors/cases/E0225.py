import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    a, b = x
    return a + b

#> E0225: only an array of literal size can be unpacked
#>   --> E0225.py:11:5, in f
#>    11 |     a, b = x
#>       |     ^^^^
#>    found:    f64[n]
#>    help: index it instead
