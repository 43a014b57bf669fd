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
    return 2.0 * x


f.plan_distribution(Elsewhere(float("nan")))

#> E1203: f: the chunks of x have unknown sizes
#>    help: call x.compute_chunk_sizes() first
