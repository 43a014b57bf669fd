import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return y * sum(x)


at.vjp(f, np.ones(3), 1.0)

#> E1009: at.vjp: f takes 2 arguments, not 1
#>   --> E1009_bare.py:14:1
#>    14 | at.vjp(f, np.ones(3), 1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give them as one tuple: at.vjp(f, (x, y), ...)
