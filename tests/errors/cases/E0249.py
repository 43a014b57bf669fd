import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sum(x, axis=1)

#> E0249: axis 1 does not exist in an array of 1 axes
#>   --> E0249.py:11:12, in f
#>    11 |     return sum(x, axis=1)
#>       |            ^^^^^^^^^^^^^^
#>    help: count axes from 0
