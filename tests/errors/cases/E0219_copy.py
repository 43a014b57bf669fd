import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(a: f64[n, m]):
    a[a > 3.0][0] = 9.0
    return a

#> E0219: an assignment to a part of a[a > 3.0], which is a copy in NumPy, is not supported
#>   --> E0219_copy.py:11:5, in f
#>    11 |     a[a > 3.0][0] = 9.0
#>       |     ^^^^^^^^^^
#>    help: put all indices into one pair of brackets, or give the copy a name: part = a[a > 3.0], then part[...] = ...
