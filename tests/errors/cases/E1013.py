import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: f64[n]) -> f64:
    for i in at.loop(n, no_false_deps=True):
        x[i] = c[i] * x[i] * x[i]
    return sum(x)

at.grad(f)(np.ones(3), np.ones(3))

#> E1013: no_false_deps: a round may overwrite what was read of x
#>   --> E1013.py:11:5
#>    11 |     for i in at.loop(n, no_false_deps=True):
#>       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: leave no_false_deps out: the reverse sweep then logs what is overwritten
