import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], i: at.u64) -> f64:
    return x[i]


f(np.zeros(3), 2**63 + 1)

#> E0701: index 9223372036854775809 is out of range for size 3
#>   --> E0701_unsigned.py:11:12, in f
#>    11 |     return x[i]
#>       |            ^^^^
#>    help: test the index first, for example x[i] if i < len(x) else 0.0
