import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return digamma(digamma(x))

at.hessian(f)(1.0)

#> E1001: trigamma, the derivative of digamma, has no derivative in Atoll
#>   --> E1001_body.py:11:12
#>    11 |     return digamma(digamma(x))
#>       |            ^^^^^^^^^^^^^^^^^^^
#>    help: use at.stop(...) where it should count as a constant
