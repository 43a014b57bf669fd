import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[-1]) -> f64:
    return sum(x)

#> E0610: f64[-1]: a size is 0 or more
#>    help: write a number, or a size declared with n = at.sizes("n")
