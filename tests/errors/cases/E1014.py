import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return sum(x) * y

at.grad(f, wrt=(0, "x"))(np.ones(2), 3.0)

#> E1014: wrt names x twice
#>   --> E1014.py:13:1
#>    13 | at.grad(f, wrt=(0, "x"))(np.ones(2), 3.0)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: name every argument once
