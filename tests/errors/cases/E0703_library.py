import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(a: f64[n, n], b: f64[n]) -> f64[n]:
    return np.linalg.solve(a, 2 * b)


f(np.zeros((2, 2)), np.ones(2))

#> E0703: assertion failed: the matrix is singular
#>   --> E0703_library.py:11:12, in f
#>    11 |     return np.linalg.solve(a, 2 * b)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give arguments for which the condition holds
