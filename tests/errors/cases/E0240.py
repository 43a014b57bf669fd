import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def g(h: at.Fn[[f64], f64], x: f64) -> f64:
    return h(x)

@at.fn
def f(x: f64) -> f64:
    return g(x, x)

#> E0240: the argument h of g must be a function
#>   --> E0240.py:15:12, in f
#>    15 |     return g(x, x)
#>       |            ^^^^^^^
#>    found:    f64
#>    help: pass a function, a lambda, or an operator such as add
