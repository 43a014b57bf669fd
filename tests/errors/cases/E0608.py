import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return sum(x)

f(np.float64(2.0))

#> E0608: f: argument x must have 1 axis (f64[n]), not 0
#>    help: index or reshape the argument, or declare its axes
