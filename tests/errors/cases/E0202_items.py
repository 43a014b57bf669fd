import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: i64):
    return [sum(x), [1.0 for i in range(c - 1)]]

#> E0202: the items of the array have different types: f64 and f64[c - 1]
#>   --> E0202_items.py:11:12, in f
#>    11 |     return [sum(x), [1.0 for i in range(c - 1)]]
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: the items of one array have one shape; write a tuple, (a, b), for values of different shapes
