import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return x[1:]

#> E0301: sizes do not match in the result: n is not n - 1
#>   --> E0301_result.py:11:12, in f
#>    11 |     return x[1:]
#>       |            ^^^^^
#>    expected: f64[n]
#>    found:    f64[n - 1]
#>    help: slice or pad one side, or declare one name for both sizes
