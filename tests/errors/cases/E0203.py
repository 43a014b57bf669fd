import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return (x, x) + 1

#> E0203: `+` needs numbers or arrays of numbers
#>   --> E0203.py:11:12, in f
#>    11 |     return (x, x) + 1
#>       |            ^^^^^^^^^^
#>    found:    (f64, f64)
#>    help: take tuples and records apart first: a, b = t
