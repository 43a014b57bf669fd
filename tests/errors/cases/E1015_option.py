import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def square(x: f64) -> f64:
    return x * x


square.def_jvp(square, points=3)

#> E1015: the derivative given to square must be one function, not points=
#>   --> E1015_option.py:14:7
#>    14 | square.def_jvp(square, points=3)
#>       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: give a function of the arguments and their tangents: @square.def_jvp
