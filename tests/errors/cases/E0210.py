import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128) -> f64:
    return f64(z)

#> E0210: a complex number does not become f64
#>   --> E0210.py:11:12, in f
#>    11 |     return f64(z)
#>       |            ^^^^^^
#>    help: take x.real or abs(x)
