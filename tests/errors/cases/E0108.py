import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return np.linalg.norm(x)

#> E0108: numpy.linalg has no meaning in Atoll
#>   --> E0108.py:11:12, in f
#>    11 |     return np.linalg.norm(x)
#>       |            ^^^^^^^^^
#>    help: write the algorithm, or call NumPy outside
