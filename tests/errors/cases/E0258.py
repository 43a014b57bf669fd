import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: at.Tuple[f64, f64][n]):
    return pad_l(x, 1)

#> E0258: pad_l pads numbers only
#>   --> E0258.py:11:12, in f
#>    11 |     return pad_l(x, 1)
#>       |            ^^^^^^^^^^^
#>    help: take the tuple apart first
