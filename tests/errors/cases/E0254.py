import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], where_to: i64[m], y: f64[m]):
    return scatter(x, where_to, y, mode="clip")

#> E0254: scatter: mode must be "error" or "drop"
#>   --> E0254.py:11:12, in f
#>    11 |     return scatter(x, where_to, y, mode="clip")
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: leave mode out, or write mode="drop"
