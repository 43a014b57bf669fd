import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(where_to: i64[n], y: f64[n]):
    return hist(add, 0.0, 3, where_to, y)

f(np.array([0, 3]), np.ones(2))

#> E0708: index 3 is out of range for size 3
#>   --> E0708.py:11:12, in f
#>    11 |     return hist(add, 0.0, 3, where_to, y)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: use mode="drop" to ignore such indices
