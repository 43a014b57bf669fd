import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return zeros(3, dtype=3)

#> E0246: dtype must be a scalar type
#>   --> E0246.py:11:12, in f
#>    11 |     return zeros(3, dtype=3)
#>       |            ^^^^^^^^^^^^^^^^^
#>    help: write dtype=f32
