import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(p: (f64, f64)) -> f64:
    a, b = p
    return a * b

at.jacrev(f)((1.0, 2.0))

#> E1011: jacrev: the argument p must be a float or an array of floats, not (f64, f64)
#>   --> E1011.py:14:1
#>    14 | at.jacrev(f)((1.0, 2.0))
#>       | ^^^^^^^^^^^^
#>    help: choose floats and arrays with wrt=, or make the parts arguments of their own
