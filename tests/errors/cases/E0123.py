import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: i64):
    return 1 if x <= 0 else x * f(x - 1)

f.type

#> E0123: f calls itself, so its result needs a type
#>   --> E0123.py:11:33, in f
#>    11 |     return 1 if x <= 0 else x * f(x - 1)
#>       |                                 ^^^^^^^^
#>    help: annotate the result: def f(...) -> f64:
