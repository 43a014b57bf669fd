import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return sum(x)

#> E0238: sum needs an array
#>   --> E0238.py:11:12, in f
#>    11 |     return sum(x)
#>       |            ^^^^^^
#>    found:    f64
#>    help: give an array; repeat(x, n) makes one of a number
