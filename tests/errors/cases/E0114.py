import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    if x > 0:
        return x
    elif x < 0:
        y = x
    else:
        return 0.0

#> E0114: some path through this `if` or `match` ends without `return`
#>   --> E0114.py:13:5, in f
#>    13 |     elif x < 0:
#>       |     ^^^^^^^^^^^
#>    help: return a value in every branch
