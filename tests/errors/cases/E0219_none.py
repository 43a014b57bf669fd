import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    x[None] = 1.0
    return x

#> E0219: None in the index of an assignment is not supported
#>   --> E0219_none.py:11:5, in f
#>    11 |     x[None] = 1.0
#>       |     ^^^^^^^
#>    help: leave None out: the value is repeated along leading axes by itself
