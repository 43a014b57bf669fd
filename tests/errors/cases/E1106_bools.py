import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: at.bool_, y: at.bool_) -> i64:
    match (x, y):
        case (True, _):
            return 3
        case (_, True):
            return 2

#> E1106: this `match` misses a case: (False, False)
#>   --> E1106_bools.py:11:11, in f
#>    11 |     match (x, y):
#>       |           ^^^^^^
#>    help: add `case (False, False):`, or `case _:` for everything else
