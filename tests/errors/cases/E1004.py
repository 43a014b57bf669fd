import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return grad(x)(x)

#> E1004: grad needs an Atoll function, not f64
#>   --> E1004.py:11:12, in f
#>    11 |     return grad(x)(x)
#>       |            ^^^^^^^
#>    help: give the function and then its arguments: grad(f)(x), not grad(f(x))
