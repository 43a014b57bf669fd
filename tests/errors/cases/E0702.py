import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(a: i64, b: i64) -> i64:
    return a // b

f(1, 0)

#> E0702: integer division by zero
#>   --> E0702.py:11:12, in f
#>    11 |     return a // b
#>       |            ^^^^^^
#>    help: test the divisor first
