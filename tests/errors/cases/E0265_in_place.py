import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x.sort()

#> E0265: .sort: its value, which is None in NumPy, is not supported
#>   --> E0265_in_place.py:11:12, in f
#>    11 |     return x.sort()
#>       |            ^^^^^^^^
#>    help: write it as a statement of its own: x.sort()
