import numpy as np

import atoll as at
from atoll import c128, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def two() -> f64:
    return 2.0


at.vjp(two, (), 1.0)

#> E1022: at.vjp: two takes no arguments, so there is nothing to differentiate
#>   --> E1022.py:14:1
#>    14 | at.vjp(two, (), 1.0)
#>       | ^^^^^^^^^^^^^^^^^^^^
#>    help: give it a parameter
