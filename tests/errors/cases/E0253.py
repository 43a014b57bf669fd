import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64[m]):
    return gather(x, y)

#> E0253: gather needs one axis of integers as indices
#>   --> E0253.py:11:12, in f
#>    11 |     return gather(x, y)
#>       |            ^^^^^^^^^^^^
#>    found:    f64[m]
#>    help: convert them with i64(...)
