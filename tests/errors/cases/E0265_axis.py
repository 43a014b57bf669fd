import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m], k: i64):
    return np.sum(x, axis=k)

#> E0265: np.sum: axis that is not a literal is not supported
#>   --> E0265_axis.py:11:12, in f
#>    11 |     return np.sum(x, axis=k)
#>       |            ^^^^^^^^^^^^^^^^^
#>    help: write axis as a number: it decides the shape of the result
