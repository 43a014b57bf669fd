import numpy as np

import atoll as at
from atoll import f64, i64, idx

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], p: idx[n]) -> f64:
    return x[p]

f(np.arange(3.0), "1")

#> E0602: f: argument p must be idx[n], not a text
#>    help: pass an array for an array, a number for a number, a tuple for a tuple, an instance for a record
