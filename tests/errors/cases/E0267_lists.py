import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sorted(x) + [v for v in x]

#> E0267: `+` of lists means one thing for lists and another for arrays
#>   --> E0267_lists.py:11:12, in f
#>    11 |     return sorted(x) + [v for v in x]
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write concat(..., ...) for one after the other, add(..., ...) for the sums of their elements
