import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return open(x)

#> E0109: Python's open has no meaning in Atoll
#>   --> E0109.py:11:12, in f
#>    11 |     return open(x)
#>       |            ^^^^
#>    help: read files outside and pass arrays in
