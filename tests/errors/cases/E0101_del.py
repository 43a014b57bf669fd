import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    y = sum(x)
    del y
    return 1.0

#> E0101: `del` is not part of Atoll
#>   --> E0101_del.py:12:5, in f
#>    12 |     del y
#>       |     ^^^^^
#>    help: names go out of use by themselves; remove the statement
