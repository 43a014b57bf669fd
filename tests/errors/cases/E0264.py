import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sum(x, 0, axis=0)

#> E0264: sum is given axis twice
#>   --> E0264.py:11:12, in f
#>    11 |     return sum(x, 0, axis=0)
#>       |            ^^^^^^^^^^^^^^^^^
#>    help: give axis by position or by name, not both
