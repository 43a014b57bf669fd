import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: i64) -> f64[n]:
    for i in at.loop(1, n):
        x[i] = 0.0
    return x

#> E1017: at.loop takes the number of rounds, or a range
#>   --> E1017.py:11:14, in f
#>    11 |     for i in at.loop(1, n):
#>       |              ^^^^^^^^^^^^^
#>    help: write at.loop(range(low, high)); options are given by name: checkpoint=, no_false_deps=
