import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m]):
    return x.reshape(-1)

#> E0230: there is no attribute reshape here
#>   --> E0230.py:11:12, in f
#>    11 |     return x.reshape(-1)
#>       |            ^^^^^^^^^^^^^
#>    found:    f64[n, m]
#>    help: use flatten(a) and split(a, k)
