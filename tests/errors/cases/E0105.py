import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return summ(x)

f.type

#> E0105: the name summ is not defined here
#>   --> E0105.py:11:12, in f
#>    11 |     return summ(x)
#>       |            ^^^^
#>    help: did you mean sum?
