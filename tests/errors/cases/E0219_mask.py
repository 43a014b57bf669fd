import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x[x > 0]

#> E0219: an array of bools as an index is not supported
#>   --> E0219_mask.py:11:14, in f
#>    11 |     return x[x > 0]
#>       |              ^^^^^
#>    help: use filter(p, xs) for the elements themselves, or where(mask, x, y)
