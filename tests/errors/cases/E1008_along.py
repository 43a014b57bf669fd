import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def square(x: f64) -> f64:
    return x * x


@square.def_jvp
@at.fn
def wrong(x: f64) -> f64:
    return 2.0 * x

#> E1008: the derivative given to square must be (f64, f64) -> f64, not wrong(x: f64) -> f64
#>   --> E1008_along.py:16:1
#>    16 | def wrong(x: f64) -> f64:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: take the arguments and one tangent for each, give the tangent of the result
