import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def scaled(s: f64) -> at.Fn[[f64], f64]:
    g = lambda v: v * s
    s = s + 1.0
    return g


@at.fn
def f(x: f64) -> f64:
    return scaled(2.0)(x)

#> E0122: the lambda uses s, which has been rebound since the lambda was defined
#>   --> E0122_returned.py:13:12, in scaled
#>    13 |     return g
#>       |            ^
#>    help: define the lambda after the last change of s, or keep the value it has here as a default: s=s
