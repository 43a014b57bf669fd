import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    sort(x)
    return x

#> E0115: this expression is computed and thrown away
#>   --> E0115.py:11:5, in f
#>    11 |     sort(x)
#>       |     ^^^^^^^
#>    help: assign it to a name, return it, or remove it
