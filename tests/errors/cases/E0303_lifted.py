import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return reverse(x)

#> E0303: nothing determines the size len(rep(x)) here
#>   --> E0303_lifted.py:11:12, in f
#>    11 |     return reverse(x)
#>       |            ^^^^^^^^^^
#>    found:    f64[len(rep(x))]
#>    note: lifted: reverse(rep(x))
#>    help: annotate the value, or use repeat(x, n)
