import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    s = x[:0]
    for i in range(n):
        s = x[:i]
        if i > 3:
            break
    return s

#> E0301: sizes do not match in `s` after a round: 0 is not i
#>   --> E0301_left.py:12:5, in f
#>    12 |     for i in range(n):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    expected: f64[0]
#>    found:    f64[i]
#>    help: a loop keeps the size of what it carries: make the array in its full size before the loop and assign to its places, or build it at once, [e for i in range(n)]
