import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return np.pad(x, 1, mode="mean")

#> E0265: np.pad: mode="mean" is not supported
#>   --> E0265.py:11:12, in f
#>    11 |     return np.pad(x, 1, mode="mean")
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: choose one of constant, edge, reflect, symmetric, wrap
