import numpy as np

import atoll as at
from atoll import c128, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64) -> f64:
    return x * y


at.grad(f, wrt=())

#> E1005: wrt=() is not an argument of f
#>   --> E1005_nothing.py:14:1
#>    14 | at.grad(f, wrt=())
#>       | ^^^^^^^^^^^^^^^^^^
#>    help: choose among x, y
