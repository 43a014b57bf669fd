import numpy as np

import atoll as at
from atoll import c128, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def twice(f: at.Fn[[f64], f64], x: f64) -> f64:
    return f(f(x))


@at.fn
def square(x: f64) -> f64:
    return x * x


at.jvp(twice, (square, 2.0), (square, 1.0))

#> E1023: at.jvp: the argument f of twice is a function, which has no tangent
#>   --> E1023.py:19:1
#>    19 | at.jvp(twice, (square, 2.0), (square, 1.0))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: use at.grad(twice, wrt=...), or write a function of the numbers only
