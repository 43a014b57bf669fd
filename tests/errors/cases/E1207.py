import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


class Elsewhere:
    """Like an array of Dask, without its data."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype, self.npartitions = shape, np.dtype(np.float64), 4


@at.fn
def f(x: f64[n, m]) -> f64[n, m]:
    return [r / (1.0 + sum(r)) for r in x]


f.plan_distribution(Elsewhere(1000, 1000), over="m")

#> E1207: f cannot be cut over m: none of its loops is cut there
#>    help: leave over= out, or name one of n
