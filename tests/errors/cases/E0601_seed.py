import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


at.vjp(f, np.ones(3), np.ones(4))

#> E0601: at.vjp of f: size n is 3 in argument x (axis 0) but 4 in the seed (axis 0)
#>   --> E0601_seed.py:14:1
#>    14 | at.vjp(f, np.ones(3), np.ones(4))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: seeds are shaped like the result: f(x: f64[n]) -> f64[n]
