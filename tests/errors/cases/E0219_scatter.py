import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], where_to: i64[m]):
    x[where_to] += 1.0
    return x

#> E0219: assignment through an array of indices is not supported
#>   --> E0219_scatter.py:11:7, in f
#>    11 |     x[where_to] += 1.0
#>       |       ^^^^^^^^
#>    help: use scatter(a, is, vs), or hist(op, ne, k, is, vs) to combine
