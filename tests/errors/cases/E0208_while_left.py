import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(c: i64) -> i64:
    s = 0
    while c:
        c -= 1
        s += 1
        if s > 5:
            break
    return s

#> E0208: `while` needs a bool
#>   --> E0208_while_left.py:12:11, in f
#>    12 |     while c:
#>       |           ^
#>    found:    i64
#>    help: compare: c != 0
