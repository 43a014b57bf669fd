import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")
scale = 2.0


@at.fn
def f(x: f64) -> f64:
    y = x * scale
    scale = y + 1.0
    return scale

#> E0128: scale is used before it is bound
#>   --> E0128.py:12:13, in f
#>    12 |     y = x * scale
#>       |             ^^^^^
#>    help: bind scale above this line, or give it another name than the one outside
