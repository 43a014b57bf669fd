import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return bound(3)

#> E0245: at.bound(n) belongs in the condition of a while
#>   --> E0245.py:11:12, in f
#>    11 |     return bound(3)
#>       |            ^^^^^^^^
#>    help: write `while at.bound(n) and condition:`
