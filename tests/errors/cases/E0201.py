import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> i64:
    return x

#> E0201: the result does not have the expected type
#>   --> E0201.py:11:12, in f
#>    11 |     return x
#>       |            ^
#>    expected: i64
#>    found:    f64
#>    help: write i64(...) to convert
