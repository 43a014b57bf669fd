import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x > 0.0 and x < 1.0

#> E0207: `and` needs one condition
#>   --> E0207_and.py:11:12, in f
#>    11 |     return x > 0.0 and x < 1.0
#>       |            ^^^^^^^
#>    found:    bool[n]
#>    help: for every element write (a) & (b), with the parentheses; all(...) or any(...) makes one bool of an array
