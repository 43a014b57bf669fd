import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> (f64, i64):
    return x * x, 3


at.grad(f)

#> E1003: grad needs a function whose result is a float, not (f64, i64)
#>   --> E1003_tuple.py:14:1
#>    14 | at.grad(f)
#>       | ^^^^^^^^^^
#>    help: return the number only, or use vjp with a seed for every part
