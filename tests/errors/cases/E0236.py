import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sort(x, keys=1)

#> E0236: sort has no parameter keys
#>   --> E0236.py:11:12, in f
#>    11 |     return sort(x, keys=1)
#>       |            ^^^^^^^^^^^^^^^
#>    help: did you mean key?
