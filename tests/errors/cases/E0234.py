import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return [v for v in x]

#> E0234: this cannot be iterated over
#>   --> E0234.py:11:24, in f
#>    11 |     return [v for v in x]
#>       |                        ^
#>    found:    f64
#>    help: go over a range, an array, zip(...) or enumerate(...)
