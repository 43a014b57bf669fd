import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[6]):
    return split(x, 4)

#> E0307: 6 is not known to be a multiple of 4
#>   --> E0307.py:11:12, in f
#>    11 |     return split(x, 4)
#>       |            ^^^^^^^^^^^
#>    help: use tile(a, k) to pad the last row, or take a size such as 4*n
