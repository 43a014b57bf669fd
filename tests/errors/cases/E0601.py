import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64[n]):
    return x + y

f(np.zeros(2), np.zeros(3))

#> E0601: f: size n is 2 in argument x (axis 0) but 3 in argument y (axis 0)
#>    help: pass arrays whose sizes fit f(x: f64[n], y: f64[n])
