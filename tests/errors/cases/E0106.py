import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


table = {"one": 1.0}

@at.fn
def f(x: f64) -> f64:
    return x * table["one"]

f.type

#> E0106: table is a dictionary, which an Atoll function cannot use
#>   --> E0106.py:13:16, in f
#>    13 |     return x * table["one"]
#>       |                ^^^^^
#>    help: use a record (@at.record), or pass the values
