import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n * m]) -> f64:
    return sum(x)

f(np.zeros(6))

#> E0308: no argument determines the size m
#>   --> E0308.py:10:1, in f
#>    10 | def f(x: f64[n * m]) -> f64:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: use m alone, or linearly, as a size of some argument
