import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


class Elsewhere:
    """Like an array of Dask, without its data."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype, self.npartitions = shape, np.dtype(np.float64), 4


@at.fn(reassociate=False)
def f(x: f64[n]) -> f64:
    return sum(x)


f.plan_distribution(Elsewhere(1_000_000))

#> E1201: f cannot be distributed: it adds up from left to right, so no worker can begin before the last has ended
#>   --> E1201_order.py:18:5
#>    18 |     return sum(x)
#>       |     ^^^^^^^^^^^^^
#>    help: let sums be regrouped: leave out reassociate=False, or bits="portable"
