import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def scaled(x: f64, *, by: f64 = 2.0) -> f64:
    return x * by


@at.fn
def f(x: f64) -> f64:
    return scaled(x, 3.0)

#> E0235: scaled takes 1 argument by position, not 2
#>   --> E0235_by_name.py:16:12, in f
#>    16 |     return scaled(x, 3.0)
#>       |            ^^^^^^^^^^^^^^
#>    help: give by by name: by=...
