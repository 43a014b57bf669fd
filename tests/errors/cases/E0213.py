import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return sum(1.0 for i in range(x))

#> E0213: a bound of range must be an integer
#>   --> E0213.py:11:29, in f
#>    11 |     return sum(1.0 for i in range(x))
#>       |                             ^^^^^^^^
#>    found:    f64
#>    help: convert with i64(...)
