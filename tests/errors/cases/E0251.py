import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128[n]):
    return sort(z)

#> E0251: sort needs one axis of real numbers as keys
#>   --> E0251.py:11:12, in f
#>    11 |     return sort(z)
#>       |            ^^^^^^^
#>    found:    c128[n]
#>    help: use key= for other elements
