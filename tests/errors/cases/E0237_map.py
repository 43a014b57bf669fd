import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    def scaled(v, by):
        return v * by

    return map(scaled, x)

#> E0237: scaled is missing its argument by
#>   --> E0237_map.py:14:12, in f
#>    14 |     return map(scaled, x)
#>       |            ^^^^^^^^^^^^^^
#>    help: give a function of 1 parameter: each call has as many arguments
