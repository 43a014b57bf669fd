import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n / 2]) -> f64:
    return sum(x)

#> E0213: a size must be an integer
#>    found:    n / 2
#>    help: write n // 2, or at.cdiv(n, 2) to round up
