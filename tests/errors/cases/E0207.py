import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    if x > 0:
        return 1.0
    return 0.0

#> E0207: `if` needs one condition
#>   --> E0207.py:11:8, in f
#>    11 |     if x > 0:
#>       |        ^^^^^
#>    found:    bool[n]
#>    help: use any(...) or all(...) for an array, or where(c, x, y) to choose elementwise
