import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[2.5]) -> f64:
    return sum(x)

#> E0213: a size must be an integer
#>    found:    f64[2.5]
#>    help: write a number, or a size declared with n = at.sizes("n")
