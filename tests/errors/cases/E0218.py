import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(p: (f64, f64), i: i64) -> f64:
    return p[i]

#> E0218: a tuple is indexed by one literal number
#>   --> E0218.py:11:12, in f
#>    11 |     return p[i]
#>       |            ^^^^
#>    help: unpack it: a, b = t
