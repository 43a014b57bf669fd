import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(places: i64[n], x: f64[n]):
    return hist(add, 0.0, places, 5, x)

#> E0213: the number of bins must be an integer
#>   --> E0213_hist.py:11:12, in f
#>    11 |     return hist(add, 0.0, places, 5, x)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    found:    i64[n]
#>    help: the order is hist(op, neutral, number of bins, where each value goes, the values)
