import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(p: (f64, f64)) -> f64:
    return p[2]

#> E0217: index 2 is out of range for a tuple of 2
#>   --> E0217.py:11:12, in f
#>    11 |     return p[2]
#>       |            ^^^^
#>    help: count from 0
