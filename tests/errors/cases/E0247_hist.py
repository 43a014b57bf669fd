import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(places: i64[n], x: f64[n]):
    return hist(0.0, add, 5, places, x)

#> E0247: hist needs a function first
#>   --> E0247_hist.py:11:12, in f
#>    11 |     return hist(0.0, add, 5, places, x)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    found:    f64
#>    help: the order is hist(op, neutral, number of bins, where each value goes, the values)
