import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, i: i64) -> f64:
    return x * i


@at.fn
def g(x: f64) -> f64:
    return jvp(f, (x, 3), (1.0, 1))

#> E1020: jvp: the tangent of an integer must be 0: i64 is not differentiated
#>   --> E1020_inside.py:16:12, in g
#>    16 |     return jvp(f, (x, 3), (1.0, 1))
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give 0, or convert the argument to a float in the function
