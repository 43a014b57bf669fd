import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(k: i64) -> i64:
    return k

f(1.0)

#> E0607: f: argument k is 1.0, which does not fit i64
#>    help: pass an int: 1
