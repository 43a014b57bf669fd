import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    if x > 0:
        y = 1.0
    return y

#> E0110: y may be unbound here: only some paths bind it (line 11)
#>   --> E0110.py:13:12, in f
#>    13 |     return y
#>       |            ^
#>    help: give y a value before the `if` or the loop
