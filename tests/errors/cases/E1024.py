import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def square(x: f64) -> f64:
    return x * x


@square.def_vjp
@at.fn
def back(x: f64, dy: f64) -> f64:
    return 2.0 * x * dy


@at.fn
def f(x: f64) -> f64:
    return square(x) + 1.0


at.jvp(f, 3.0, 1.0)

#> E1024: the derivative of square was supplied backwards only, and is needed forwards
#>   --> E1024.py:22:12
#>    22 |     return square(x) + 1.0
#>       |            ^^^^^^^^^
#>    help: supply it forwards too: @square.def_jvp
