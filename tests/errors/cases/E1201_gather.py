import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


class Elsewhere:
    """Like an array of Dask, without its data."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype, self.npartitions = shape, np.dtype(np.float64), 4


@at.fn
def f(x: f64[n]) -> f64:
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x[i]
    return s


f.plan_distribution(Elsewhere(100_000_000))

#> E1201: f cannot be distributed: all of x is needed in one place, 800 MB
#>   --> E1201_gather.py:21:5
#>    21 |     return s
#>       |     ^^^^^^^^
#>    help: reduce it by a known operator (sum, min, max, hist), or give a larger memory=
