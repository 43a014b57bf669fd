import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    global total
    total = x
    return x

#> E0101: `global` is not part of Atoll
#>   --> E0101_global.py:11:5, in f
#>    11 |     global total
#>       |     ^^^^^^^^^^^^
#>    help: return the value instead: an Atoll function has no effects
