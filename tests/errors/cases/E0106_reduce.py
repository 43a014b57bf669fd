import functools

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    return functools.reduce(lambda a, b: a + b, x, 0.0)


f(np.ones(2))

#> E0106: functools.reduce is Python's reduce, which an Atoll function cannot use
#>   --> E0106_reduce.py:13:12, in f
#>    13 |     return functools.reduce(lambda a, b: a + b, x, 0.0)
#>       |            ^^^^^^^^^^^^^^^^
#>    help: write fold(f, first, xs), which goes from left to right, or reduce(f, ne, xs) for an associative f with neutral element ne
