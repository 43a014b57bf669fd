import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], name: str) -> f64:
    return sum(x)

#> E0211: str is not a type
#>   --> E0211_python.py:10:24, in f
#>    10 | def f(x: f64[n], name: str) -> f64:
#>       |                        ^^^
#>    help: write a type such as f32[n, m], (f64, i64) or a record
