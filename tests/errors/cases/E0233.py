import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return []

#> E0233: an empty display has no type
#>   --> E0233.py:11:12, in f
#>    11 |     return []
#>       |            ^^
#>    help: build the array at once, [e for i in range(n)], or write zeros(0, dtype=f64)
