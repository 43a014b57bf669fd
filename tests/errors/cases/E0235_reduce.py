import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return reduce(lambda a: a, 0.0, x)

#> E0235: the lambda takes 1 argument, not 2
#>   --> E0235_reduce.py:11:12, in f
#>    11 |     return reduce(lambda a: a, 0.0, x)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give a function of 2 parameters: each call has as many arguments
