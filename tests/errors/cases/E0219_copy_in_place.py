import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], i: i64[m]):
    x[i].sort()
    return x

#> E0219: .sort in x[i], which is a copy in NumPy, is not supported
#>   --> E0219_copy_in_place.py:11:5, in f
#>    11 |     x[i].sort()
#>       |     ^^^^
#>    help: give the copy a name and change that: part = x[i]; x[i] = part puts it back
