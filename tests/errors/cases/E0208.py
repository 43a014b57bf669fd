import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64) -> i64:
    return 1 if i else 0

#> E0208: the condition needs a bool
#>   --> E0208.py:11:17, in f
#>    11 |     return 1 if i else 0
#>       |                 ^
#>    found:    i64
#>    help: compare: i != 0
