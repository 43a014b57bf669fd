import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], i: f64) -> f64:
    return x[i]

#> E0222: an index must be an integer
#>   --> E0222.py:11:14, in f
#>    11 |     return x[i]
#>       |              ^
#>    found:    f64
#>    help: convert with i64(...)
