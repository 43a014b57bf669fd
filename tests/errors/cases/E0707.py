import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], where_to: i64[m], y: f64[m]) -> f64[n]:
    return scatter(x, where_to, y)

f(np.zeros(3), np.array([1, 1]), np.ones(2))

#> E0707: index 1 occurs twice in scatter
#>   --> E0707.py:11:12, in f
#>    11 |     return scatter(x, where_to, y)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give op= to combine values
