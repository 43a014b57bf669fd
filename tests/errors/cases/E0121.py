import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    x[0] = 1.0

#> E0121: f ends without `return`
#>   --> E0121.py:10:1
#>    10 | def f(x: f64[n]):
#>       | ^^^^^^^^^^^^^^^^^
#>    help: return the result
