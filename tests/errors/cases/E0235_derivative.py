import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return y * sum(x)


at.jvp(f, np.ones(3), 2.0, np.ones(3), 1.0)

#> E0235: at.jvp takes 3 arguments, not 5
#>   --> E0235_derivative.py:14:1
#>    14 | at.jvp(f, np.ones(3), 2.0, np.ones(3), 1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write at.jvp(f, x, dx)
