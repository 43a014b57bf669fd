import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


class Elsewhere:
    """Like an array of Dask, without its data."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype, self.npartitions = shape, np.dtype(np.float64), 4


@at.fn
def f(x: f64[n]) -> f64[n]:
    y = 2.0 * x
    return sort(y)


f.plan_distribution(Elsewhere(1_000_000))

#> E1201: f cannot be distributed: it sorts along the axis that is cut, which needs everything in one place
#>   --> E1201.py:19:5
#>    19 |     return sort(y)
#>       |     ^^^^^^^^^^^^^^
#>    help: sort the rows of an array instead, or gather it first: x.compute()
