import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], s: i64):
    return x[::0]

#> E0223: a step must not be 0
#>   --> E0223.py:11:16, in f
#>    11 |     return x[::0]
#>       |                ^
#>    help: write another step: x[::-1] goes backwards
