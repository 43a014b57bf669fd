import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    y = [0.0]
    for i in range(n):
        y = concat(y, [x[i]])
    return y

#> E0301: sizes do not match in `y` after a round: 1 is not 2
#>   --> E0301_grows.py:12:5, in f
#>    12 |     for i in range(n):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    expected: f64[1]
#>    found:    f64[2]
#>    help: a loop keeps the size of what it carries: make the array in its full size before the loop and assign to its places, or build it at once, [e for i in range(n)]
