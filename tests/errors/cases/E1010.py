import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64) -> f64:
    return x * y

at.jvp(f, (1.0, 2.0), 1.0)

#> E1010: at.jvp: the tangent must be a tuple of 2, like the arguments, not a float
#>   --> E1010.py:13:1
#>    13 | at.jvp(f, (1.0, 2.0), 1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give a tuple with one value per argument
