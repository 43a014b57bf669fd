import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return fold(lambda a, v: (a, v), 0.0, x)

#> E0117: the state changes its type in the loop
#>   --> E0117_fold.py:11:12, in f
#>    11 |     return fold(lambda a, v: (a, v), 0.0, x)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    expected: f64
#>    found:    (f64, f64)
#>    help: give the first value the type of what the function returns
