import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return y * sum(x)


at.grad(f, argnums=1)

#> E0236: at.grad has no parameter argnums
#>   --> E0236_argnums.py:14:1
#>    14 | at.grad(f, argnums=1)
#>       | ^^^^^^^^^^^^^^^^^^^^^
#>    help: wrt= chooses arguments, by position or by name: at.grad(f, wrt=1)
