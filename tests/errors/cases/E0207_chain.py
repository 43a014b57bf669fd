import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return 0.0 < x < 1.0

#> E0207: a chained comparison needs one condition
#>   --> E0207_chain.py:11:12, in f
#>    11 |     return 0.0 < x < 1.0
#>       |            ^^^^^^^^^^^^^
#>    found:    bool[n]
#>    help: for every element write (a < b) & (b < c), with the parentheses
