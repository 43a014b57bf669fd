import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: bool_):
    return x if c else 0.0

#> E0202: the two branches have different types: f64[n] and f64
#>   --> E0202_number.py:11:12, in f
#>    11 |     return x if c else 0.0
#>       |            ^^^^^^^^^^^^^^^
#>    help: repeat the number to the shape of the other: rep(...)
