import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return x * x

at.grad(f)(np.ones(2))

#> E1003: grad needs a function whose result is a float, not f64[n]
#>   --> E1003.py:13:1
#>    13 | at.grad(f)(np.ones(2))
#>       | ^^^^^^^^^^
#>    help: sum the result, or use jacrev
