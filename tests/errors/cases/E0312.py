import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[at._], i: i64) -> f64:
    return 0.0 if i == 0 else f(x, i - 1)

f.type

#> E0312: f calls itself, so its sizes need names
#>   --> E0312.py:11:31, in f
#>    11 |     return 0.0 if i == 0 else f(x, i - 1)
#>       |                               ^^^^^^^^^^^
#>    help: declare them: n = at.sizes("n"), and write f64[n] for f64[_]
