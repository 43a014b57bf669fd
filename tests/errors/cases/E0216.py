import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return x[0]

#> E0216: this cannot be indexed
#>   --> E0216.py:11:12, in f
#>    11 |     return x[0]
#>       |            ^^^^
#>    found:    f64
#>    help: index arrays and tuples only
