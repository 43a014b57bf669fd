import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, i: i64) -> f64:
    return x * i


at.jvp(f, (2.0, 3), (1.0, 1))

#> E1020: at.jvp: the tangent of i must be 0: i64 is not differentiated
#>   --> E1020.py:14:1
#>    14 | at.jvp(f, (2.0, 3), (1.0, 1))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give 0, or convert the argument to a float in the function
