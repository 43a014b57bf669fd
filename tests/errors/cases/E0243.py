import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


a, b = at.types("a b")

@at.fn
def g(x: a) -> b:
    return x

@at.fn
def f(x: f64) -> f64:
    return g(x)

#> E0243: the type variable b occurs in the result only
#>   --> E0243.py:12:16, in g
#>    12 | def g(x: a) -> b:
#>       |                ^
#>    help: use it in a parameter
