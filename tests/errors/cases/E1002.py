import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64, x: f64) -> f64:
    return i * x

at.grad(f)(1, 2.0)

#> E1002: grad: i is i64, and only floats are differentiated
#>   --> E1002.py:13:1
#>    13 | at.grad(f)(1, 2.0)
#>       | ^^^^^^^^^^
#>    help: convert it with f64(...), or choose another argument with wrt=
