import numpy as np

import atoll as at
from atoll import f64, i64, idx

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], p: idx[n]) -> f64:
    return x[p]

f(np.arange(3.0), 1.5)

#> E0607: f: argument p is 1.5, which does not fit idx[n]
#>    help: pass an index: an int that is at least 0 and below n
