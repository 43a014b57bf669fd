import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


f.residuals()

#> E1021: f has no reverse sweep, so it keeps nothing
#>   --> E1021.py:14:1
#>    14 | f.residuals()
#>       | ^^^^^^^^^^^^^
#>    help: ask a gradient: at.grad(f).residuals()
