import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return (2 * v for v in x)

#> E0231: a generator is used where a value is needed
#>   --> E0231.py:11:12, in f
#>    11 |     return (2 * v for v in x)
#>       |            ^^^^^^^^^^^^^^^^^^
#>    help: write [...] for an array, or put it into sum, min, any, ...
