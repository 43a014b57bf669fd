import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    a, b = x
    return a + b

#> E0226: this cannot be unpacked
#>   --> E0226.py:11:5, in f
#>    11 |     a, b = x
#>       |     ^^^^
#>    found:    f64
#>    help: unpack a tuple, a record, or an array of literal size
