import sys

import atoll as at
from atoll import bf16, f32
from atoll.types import dtypes

n = at.sizes("n")
dtypes._numpy_dtype.cache_clear()
there, sys.modules["ml_dtypes"] = sys.modules.get("ml_dtypes"), None  # as where it is not installed


@at.fn
def f(x: bf16[n]) -> f32:
    return sum(x)


try:
    f([1.0, 2.0])
finally:
    del sys.modules["ml_dtypes"]
    if there is not None:
        sys.modules["ml_dtypes"] = there
    dtypes._numpy_dtype.cache_clear()

#> E0616: bf16 needs the package ml_dtypes, which NumPy arrays of it are made with
#>    help: pip install ml_dtypes
