import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    g = lambda v: v
    for i in range(3):
        g = lambda v: g(v) + 1
    return g(x)

#> E0116: g is a function, which cannot be carried by a loop
#>   --> E0116.py:12:5, in f
#>    12 |     for i in range(3):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    help: pass functions as arguments instead of rebinding them in a loop
