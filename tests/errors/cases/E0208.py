import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64) -> i64:
    some = i and True
    return 1 if some else 0

#> E0208: `and` needs a bool
#>   --> E0208.py:11:12, in f
#>    11 |     some = i and True
#>       |            ^
#>    found:    i64
#>    help: compare: i != 0
