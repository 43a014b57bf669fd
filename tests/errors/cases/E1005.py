import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def square(x: f64) -> f64:
    return x * x


at.grad(square, wrt="y")(1.0)

#> E1005: wrt='y' is not an argument of square
#>   --> E1005.py:14:1
#>    14 | at.grad(square, wrt="y")(1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: choose among x
