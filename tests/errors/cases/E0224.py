import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    sum(x)[0] = 1.0
    return x

#> E0224: this cannot be assigned to
#>   --> E0224.py:11:5, in f
#>    11 |     sum(x)[0] = 1.0
#>       |     ^^^^^^
#>    help: assign to a name, an element or a field
