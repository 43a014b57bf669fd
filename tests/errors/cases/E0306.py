import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[3]):
    return x[5:]

#> E0306: x[5:] does not fit the sizes known here: it misses by 2
#>   --> E0306.py:11:12, in f
#>    11 |     return x[5:]
#>       |            ^^^^^
#>    help: choose numbers that fit, or give it a larger array
