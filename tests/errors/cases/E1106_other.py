import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: i64) -> i64:
    match x:
        case 1:
            return 2

#> E1106: this `match` misses a case: any other i64
#>   --> E1106_other.py:11:11, in f
#>    11 |     match x:
#>       |           ^
#>    help: add `case _:` for everything else
