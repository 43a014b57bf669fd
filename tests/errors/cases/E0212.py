import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: at.u8) -> at.u8:
    return x + 300

#> E0212: 300 does not fit u8
#>   --> E0212.py:11:12, in f
#>    11 |     return x + 300
#>       |            ^^^^^^^
#>    help: use a wider type
