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
    s = sum(x)
    print(s)
    return s


f.plan_distribution(Elsewhere(1_000_000))

#> E1201: f cannot be distributed: it prints, and what is printed by several workers has no order
#>   --> E1201_print.py:19:5
#>    19 |     print(s)
#>       |     ^^^^^^^^
#>    help: return the value instead of printing it
