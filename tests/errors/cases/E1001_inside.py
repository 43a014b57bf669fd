import numpy as np

import atoll as at
from atoll import c128, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return abs(c128(x, 1.0) * 1j)


at.grad(f)(2.0)

#> E1001: a complex number has no derivative in Atoll
#>   --> E1001_inside.py:11:16
#>    11 |     return abs(c128(x, 1.0) * 1j)
#>       |                ^^^^^^^^^^^^^^^^^
#>    help: use at.stop(...) where it should count as a constant
