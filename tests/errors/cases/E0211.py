import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: 3) -> f64:
    return x

#> E0211: 3 is not a type
#>   --> E0211.py:10:10, in f
#>    10 | def f(x: 3) -> f64:
#>       |          ^
#>    help: write a type such as f32[n, m], (f64, i64) or a record
