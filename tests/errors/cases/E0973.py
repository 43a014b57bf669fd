import numpy as np

import atoll as at
from atoll import f64

nd = at.madl(source="""
let sum (x of f64) returns (s): s init 0.0 = last s + x
""")


@at.fn
def f(x: f64) -> f64:
    return nd.sum(x)


f(np.float64(1))

#> E0973: sum cannot be used in a function: it has state, which functions do not have
#>   --> <madl>:2:5, in sum
#>    2 | let sum (x of f64) returns (s): s init 0.0 = last s + x
#>      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: call it from Python, or write that part as an Atoll function
