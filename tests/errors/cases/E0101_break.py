import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    total = 0.0
    for v in x:
        if v < 0:
            break
        total += v
    return total

#> E0101: `break` is not part of Atoll
#>   --> E0101_break.py:14:13, in f
#>    14 |             break
#>       |             ^^^^^
#>    help: use `while condition:` and make the condition false
