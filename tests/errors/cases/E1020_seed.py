import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> (f64, i64):
    return x * x, 3


at.vjp(f, 2.0, (1.0, 1))

#> E1020: at.vjp: the seed[1] must be 0: i64 is not differentiated
#>   --> E1020_seed.py:14:1
#>    14 | at.vjp(f, 2.0, (1.0, 1))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give 0, or convert the argument to a float in the function
