import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    yield x

#> E0101: `yield` is not part of Atoll
#>   --> E0101_yield.py:11:5, in f
#>    11 |     yield x
#>       |     ^^^^^^^
#>    help: build an array with a comprehension and return it
