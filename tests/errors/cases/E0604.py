import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], i: at.idx[n]) -> f64:
    return x[i]

f(np.zeros(3), 3)

#> E0604: f: argument i is declared idx[n], but holds 3; an index here is at least 0 and below 3
#>    help: check the indices before the call
