import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: "f64[n") -> f64:
    return 1.0

#> E0102: the annotation 'f64[n' is not an expression
#>   --> E0102.py:10:10, in f
#>    10 | def f(x: "f64[n") -> f64:
#>       |          ^^^^^^^
#>    help: write a type, for example f32[n]
