import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n, m, k]):
    return x.T

#> E0255: .T without axes needs exactly 2 axes, not 3
#>   --> E0255.py:11:12, in f
#>    11 |     return x.T
#>       |            ^^^
#>    help: write transpose(a, (...)) with the axes you mean
