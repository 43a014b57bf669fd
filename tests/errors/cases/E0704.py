import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return min(x)

f(np.zeros(0))

#> E0704: min of nothing
#>   --> E0704.py:11:12, in f
#>    11 |     return min(x)
#>       |            ^^^^^^
#>    help: make sure that there is an element; min and max, unlike the others, also take default=
