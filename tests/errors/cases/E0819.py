import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: i64) -> i64:
    y = x - 1
    return 1 if x < 1 else x * f(y)

f.with_plan(y="store")

#> E0819: f has recursion, unions or function values, so its plan cannot be decided by hand
#>   --> E0819.py:10:1
#>    10 | def f(x: i64) -> i64:
#>       | ^^^^^^^^^^^^^^^^^^^^^
#>    help: put the loops into a function of their own and plan that
