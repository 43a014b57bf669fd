import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return filter(lambda v: v > 0, x)

at.vjp(f, np.ones(2), np.ones(2))

#> E1006: vjp: the result has a size that only running decides: f64[k]
#>   --> E1006.py:13:1
#>    13 | at.vjp(f, np.ones(2), np.ones(2))
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: sum it, or pad it to a known size
