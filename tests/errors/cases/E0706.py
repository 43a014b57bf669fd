import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64, by: i64) -> i64:
    return i << by

f(1, -1)

#> E0706: shift by -1
#>   --> E0706.py:11:12, in f
#>    11 |     return i << by
#>       |            ^^^^^^^
#>    help: shift by a count that is not negative
