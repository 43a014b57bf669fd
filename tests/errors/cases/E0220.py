import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return f64[3]

#> E0220: f64[3] is a type, not a value
#>   --> E0220.py:11:12, in f
#>    11 |     return f64[3]
#>       |            ^^^^^^
#>    help: call it to convert or to make a value: f64(x)
