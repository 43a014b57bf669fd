import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


f.def_vjp()

#> E1015: the derivative given to f must be one function, not nothing
#>   --> E1015_nothing.py:14:2
#>    14 | f.def_vjp()
#>       |  ^^^^^^^^^^
#>    help: give a function of the arguments and the adjoint of the result: @f.def_vjp
