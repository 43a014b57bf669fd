import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64[m]):
    return x + y

#> E0301: sizes do not match in `+`: n is not m
#>   --> E0301.py:11:12, in f
#>    11 |     return x + y
#>       |            ^^^^^
#>    expected: f64[n]
#>    found:    f64[m]
#>    note: lifted: map(add, x, y)
#>    help: slice or pad one side, or declare one name for both sizes
