import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return not (x > 0.0)

#> E0207: `not` needs one condition
#>   --> E0207_not.py:11:12, in f
#>    11 |     return not (x > 0.0)
#>       |            ^^^^^^^^^^^^^
#>    found:    bool[n]
#>    help: for every element write ~(a), with the parentheses; all(...) or any(...) makes one bool of an array
