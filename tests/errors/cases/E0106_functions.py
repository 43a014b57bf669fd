import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


fs = [np.sin, np.cos]


@at.fn
def f(x: f64):
    return fs[0](x)


f(1.0)

#> E0106: fs is a list of functions, which an Atoll function cannot use
#>   --> E0106_functions.py:14:12, in f
#>    14 |     return fs[0](x)
#>       |            ^^
#>    help: make it a tuple: fs = tuple(fs)
