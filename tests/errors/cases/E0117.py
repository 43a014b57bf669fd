import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    total = 0
    for i in range(n):
        total = total + 1
        total = x
    return 1.0

#> E0117: total changes its type in the loop
#>   --> E0117.py:12:5, in f
#>    12 |     for i in range(n):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    expected: i64
#>    found:    f64[n]
#>    help: give total one type before the loop and in it
