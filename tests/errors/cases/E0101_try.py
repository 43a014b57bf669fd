import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0

#> E0101: `try` is not part of Atoll
#>   --> E0101_try.py:11:5, in f
#>    11 |     try:
#>       |     ^^^^
#>    help: test for the condition with `if` before it goes wrong
