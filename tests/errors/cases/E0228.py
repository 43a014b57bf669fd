import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    x[0] = f64
    return x

#> E0228: this cannot be stored in an array
#>   --> E0228.py:11:5, in f
#>    11 |     x[0] = f64
#>       |     ^^^^
#>    found:    the type f64
#>    help: store a number, a tuple or a record
