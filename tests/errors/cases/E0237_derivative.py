import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


at.jvp(f, np.ones(3))

#> E0237: at.jvp is missing its argument dx
#>   --> E0237_derivative.py:14:1
#>    14 | at.jvp(f, np.ones(3))
#>       | ^^^^^^^^^^^^^^^^^^^^^
#>    help: write at.jvp(f, x, dx)
