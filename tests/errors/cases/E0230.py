import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m]):
    return x.byteswap()

#> E0230: there is no attribute byteswap here
#>   --> E0230.py:11:12, in f
#>    11 |     return x.byteswap()
#>       |            ^^^^^^^^^^^^
#>    found:    f64[n, m]
#>    help: arrays have .shape .ndim .size .dtype .T .real .imag and NumPy's methods, such as x.sum(axis=0) and x.reshape(n, m)
