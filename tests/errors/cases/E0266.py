import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return np.linalg.inv(x)

#> E0266: np.linalg.inv takes a matrix, not f64[n]
#>   --> E0266.py:11:12, in f
#>    11 |     return np.linalg.inv(x)
#>       |            ^^^^^^^^^^^^^^^^
#>    help: give it what it takes, or convert: f64(x)
