import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return np.linalg.eig(x)

#> E0108: numpy.linalg.eig has no meaning in Atoll
#>   --> E0108.py:11:12, in f
#>    11 |     return np.linalg.eig(x)
#>       |            ^^^^^^^^^^^^^
#>    help: of a symmetric matrix np.linalg.eigh(s); others are computed outside
