import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, c: at.bool_):
    return x if c else (x, x)

#> E0202: the two branches have different types: f64 and (f64, f64)
#>   --> E0202.py:11:12, in f
#>    11 |     return x if c else (x, x)
#>       |            ^^^^^^^^^^^^^^^^^^
#>    help: convert one of them
