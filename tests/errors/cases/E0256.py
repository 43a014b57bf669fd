import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m]):
    return transpose(x, (0, 2))

#> E0256: (0, 2) is no order of the axes of an array of 2
#>   --> E0256.py:11:12, in f
#>    11 |     return transpose(x, (0, 2))
#>       |            ^^^^^^^^^^^^^^^^^^^^
#>    help: name every axis once, for example (1, 0)
