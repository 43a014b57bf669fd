import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64, y: f64) -> f64:
    return x + y

f(1.0, x=2.0)

#> E0605: f: x is given twice
#>    help: call it as f(x, y)
