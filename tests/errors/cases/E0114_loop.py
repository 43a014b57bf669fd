import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    for i in range(n):
        if x[i] > 0.0:
            return x[i]

#> E0114: some path through this loop ends without `return`
#>   --> E0114_loop.py:11:5, in f
#>    11 |     for i in range(n):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    help: return a value after the loop too, for when it ends without one
