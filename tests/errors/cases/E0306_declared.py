import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[-1]) -> f64:
    return sum(x)

#> E0306: f64[-1] does not fit the sizes known here: it misses by 1
#>    help: make it smaller, or give it a larger array
