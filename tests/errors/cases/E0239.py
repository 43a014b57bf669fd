import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x(0)

#> E0239: this is not a function
#>   --> E0239.py:11:12, in f
#>    11 |     return x(0)
#>       |            ^^^^
#>    found:    f64[n]
#>    help: write [...] where an element is meant
