import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], i: i64) -> f64:
    return x[i]

f(np.zeros(3), 3)

#> E0701: index 3 is out of range for size 3
#>   --> E0701.py:11:12, in f
#>    11 |     return x[i]
#>       |            ^^^^
#>    help: test the index first, for example x[i] if i < len(x) else 0.0
