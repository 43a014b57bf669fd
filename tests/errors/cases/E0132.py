import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], k: i64 = 2.5):
    return x * k

#> E0132: the default of k does not fit its type i64
#>   --> E0132.py:10:27
#>    10 | def f(x: f64[n], k: i64 = 2.5):
#>       |                           ^^^
#>    found:    2.5
#>    help: give a default of that type, or declare another one
