import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: at.u64, y: i64):
    return x + y

#> E0204: `+` does not combine u64 and i64
#>   --> E0204.py:11:12, in f
#>    11 |     return x + y
#>       |            ^^^^^
#>    help: convert one side: i64(...) or u64(...)
