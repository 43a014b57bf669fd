import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64):
    return x @ y

#> E0260: a matrix product needs arrays: f64 and f64
#>   --> E0260.py:11:12, in f
#>    11 |     return x @ y
#>       |            ^^^^^
#>    help: use * for numbers
