import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return scan(add, 0.0)

#> E0237: scan is missing its argument xs
#>   --> E0237.py:11:12, in f
#>    11 |     return scan(add, 0.0)
#>       |            ^^^^^^^^^^^^^^
#>    help: add xs: scan(op, ne, xs)
