import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


at.hessian(f)

#> E1003: hessian needs a function whose result is a float, not f64[n]
#>   --> E1003_hessian.py:14:1
#>    14 | at.hessian(f)
#>       | ^^^^^^^^^^^^^
#>    help: sum the result, or use jacrev
