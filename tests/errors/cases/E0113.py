import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return

#> E0113: `return` without a value
#>   --> E0113.py:11:5, in f
#>    11 |     return
#>       |     ^^^^^^
#>    help: return the result
