import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return map(x, x)

#> E0247: map needs a function first
#>   --> E0247.py:11:12, in f
#>    11 |     return map(x, x)
#>       |            ^^^^^^^^^
#>    found:    f64[n]
#>    help: put the function first: map(f, ...)
