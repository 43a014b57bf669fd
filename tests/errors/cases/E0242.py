import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: i64) -> i64:
    match x:
        case (a, b):
            return a
        case _:
            return 0

#> E0242: this pattern does not fit the value
#>   --> E0242.py:12:14, in f
#>    12 |         case (a, b):
#>       |              ^^^^^^
#>    found:    i64
#>    help: write a pattern of the form the value has
