import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x[0] == None

#> E0203: `==` needs numbers or arrays of numbers
#>   --> E0203_none.py:11:12, in f
#>    11 |     return x[0] == None
#>       |            ^^^^^^^^^^^^
#>    found:    None
#>    help: a number or an array is never None: remove it; whether something is there is asked of a union, with match
