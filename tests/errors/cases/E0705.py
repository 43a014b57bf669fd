import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> i64:
    return i64(x)

f(float("nan"))

#> E0705: nan does not become i64
#>   --> E0705.py:11:12, in f
#>    11 |     return i64(x)
#>       |            ^^^^^^
#>    help: test with isfinite(x), or clip(x, low, high) first
