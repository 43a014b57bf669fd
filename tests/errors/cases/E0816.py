import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    y = x * 2.0
    s = sum(y)
    return y / s

f.with_plan(z="store")

#> E0816: the plan of f speaks of z, which it does not bind
#>   --> E0816.py:10:1
#>    10 | def f(x: f64[n]) -> f64[n]:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: the names it binds are: s, y
