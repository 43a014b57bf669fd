import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


class Array:
    """As Dask's: asked for its elements, it would gather them."""

    __module__ = "dask.array.core"
    shape, dtype, ndim = (3,), np.dtype(np.float64), 1

    def __array__(self, *args: object, **keywords: object) -> object:
        return np.ones(3)


f(Array())

#> E1204: f is called with a Dask array for x, which would be gathered into the memory of this process
#>    help: write f.distribute(...) for lazy results, or gather it yourself: np.asarray(x)
