import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def g(i: i64) -> i64:
    return i

@at.fn
def f(x: f64) -> i64:
    return g(x)

#> E0201: argument i of g does not have the expected type
#>   --> E0201_call.py:15:12, in f
#>    15 |     return g(x)
#>       |            ^^^^
#>    expected: i64
#>    found:    f64
#>    help: write i64(...) to convert
