import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64[m]):
    return argmin(a * b for a in x for b in y)

#> E0252: argmin over a generator needs exactly one `for`
#>   --> E0252.py:11:12, in f
#>    11 |     return argmin(a * b for a in x for b in y)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: reduce the inner axis first, or go over flatten(a)
