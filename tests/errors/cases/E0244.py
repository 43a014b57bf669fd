import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return lambda y: x + y

f(1.0)

#> E0244: f returns a function
#>   --> E0244.py:10:1, in f
#>    10 | def f(x: f64):
#>       | ^^^^^^^^^^^^^^
#>    help: return a value, or make it a local function
