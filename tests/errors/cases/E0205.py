import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64):
    return x & y

#> E0205: `&` needs integers or bools
#>   --> E0205.py:11:12, in f
#>    11 |     return x & y
#>       |            ^^^^^
#>    found:    f64
#>    help: use `and`, `or`, `not` for conditions, or convert with i64(...)
