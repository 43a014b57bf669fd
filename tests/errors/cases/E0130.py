import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    a = (x, x, x, x, x, x, x, x)
    b = (a, a, a, a, a, a, a, a)
    c = (b, b, b, b, b, b, b, b)
    d = (c, c, c, c, c, c, c, c)
    return d[0][0][0][0]

#> E0130: this value has more than 4,096 parts
#>   --> E0130.py:14:9
#>    14 |     d = (c, c, c, c, c, c, c, c)
#>       |         ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: keep values of one kind in an array
