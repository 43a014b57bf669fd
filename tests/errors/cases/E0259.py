import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return pad(x, (1, 2, 3))

#> E0259: pad widths are one number, a pair, or 1 pairs
#>   --> E0259.py:11:12, in f
#>    11 |     return pad(x, (1, 2, 3))
#>       |            ^^^^^^^^^^^^^^^^^
#>    help: write pad(a, 1), pad(a, (1, 2)), or one pair per axis
