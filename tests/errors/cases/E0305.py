import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[m]:
    return x

#> E0305: the result's size m is not bound by any parameter
#>   --> E0305.py:10:21, in f
#>    10 | def f(x: f64[n]) -> f64[m]:
#>       |                     ^^^^^^
#>    help: declare it with m = at.some("m") if the result decides it
