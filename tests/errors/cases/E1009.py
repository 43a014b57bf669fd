import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64) -> f64:
    return x * y

at.jvp(f, (1.0, 2.0, 3.0), (1.0, 1.0, 1.0))

#> E1009: at.jvp: f takes 2 arguments, not 3
#>   --> E1009.py:13:1
#>    13 | at.jvp(f, (1.0, 2.0, 3.0), (1.0, 1.0, 1.0))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give them as one tuple: at.jvp(f, (x, y), ...)
