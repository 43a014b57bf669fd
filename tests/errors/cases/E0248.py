import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return unzip(x)

#> E0248: unzip needs an array of tuples
#>   --> E0248.py:11:12, in f
#>    11 |     return unzip(x)
#>       |            ^^^^^^^^
#>    found:    f64[n]
#>    help: make one with zip(xs, ys)
