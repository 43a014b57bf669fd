import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    for v in x:
        last = v
    return last

#> E0110: last may be unbound here: only some paths bind it (line 11)
#>   --> E0110_loop.py:13:12, in f
#>    13 |     return last
#>       |            ^^^^
#>    help: give last a value before the `if` or the loop
