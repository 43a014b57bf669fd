import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128) -> at.c128:
    return z * z

at.jvp(f, 1j, 1j)

#> E1001: a complex number has no derivative in Atoll
#>   --> E1001.py:11:12
#>    11 |     return z * z
#>       |            ^^^^^
#>    help: use at.stop(...) where it should count as a constant
