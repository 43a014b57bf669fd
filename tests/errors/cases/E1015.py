import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return sum(x) * y

f.def_vjp(None)

#> E1015: the derivative given to f must be one function, not nothing
#>   --> E1015.py:13:2
#>    13 | f.def_vjp(None)
#>       |  ^^^^^^^^^^^^^^
#>    help: give a function of the arguments and the adjoint of the result: @f.def_vjp
