import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(p: (f64, f64, f64)) -> f64:
    a, b = p
    return a + b

#> E0227: 2 names for 3 values
#>   --> E0227.py:11:5, in f
#>    11 |     a, b = p
#>       |     ^^^^
#>    help: write 3 names
