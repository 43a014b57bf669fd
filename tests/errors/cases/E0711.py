import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64, p: i64) -> i64:
    return i**p

f(2, -1)

#> E0711: integer to the power -1
#>   --> E0711.py:11:12, in f
#>    11 |     return i**p
#>       |            ^^^^
#>    help: convert to a float first
