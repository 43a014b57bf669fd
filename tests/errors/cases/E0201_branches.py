import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> i64:
    if x > 0:
        return 1
    return x

#> E0201: the result does not have the expected type
#>   --> E0201_branches.py:10:18, in f
#>    10 | def f(x: f64) -> i64:
#>       |                  ^^^
#>    expected: i64
#>    found:    f64
#>    help: write i64(...) to convert
