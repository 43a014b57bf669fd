import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sorted(x)

#> E0109: Python's sorted has no meaning in Atoll
#>   --> E0109_sorted.py:11:12, in f
#>    11 |     return sorted(x)
#>       |            ^^^^^^
#>    help: use sort(xs)
