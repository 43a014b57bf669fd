import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128):
    return erf(z)

#> E0209: erf is not defined for c128
#>   --> E0209.py:11:12, in f
#>    11 |     return erf(z)
#>       |            ^^^^^^
#>    help: convert the argument first: x.real, abs(x), f64(x)
