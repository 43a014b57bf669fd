import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


at.jvp(f, np.ones(3), 1.0)

#> E0602: at.jvp of f: the tangent of x must be f64[n], not a float
#>   --> E0602_tangent.py:14:1
#>    14 | at.jvp(f, np.ones(3), 1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: pass an array for an array, a number for a number, a tuple for a tuple, an instance for a record
