import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return sum(x) * y


@at.fn
def g(x: f64[n], y: f64):
    return grad(f, x)

#> E1016: wrt of grad is a position or a name written out, or a tuple of them
#>   --> E1016.py:16:12, in g
#>    16 |     return grad(f, x)
#>       |            ^^^^^^^^^^
#>    help: write grad(f)(x) to apply it to x, or wrt=0
