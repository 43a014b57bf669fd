import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x) -> f64:
    return x

#> E0118: the parameter x has no type
#>   --> E0118.py:10:7, in f
#>    10 | def f(x) -> f64:
#>       |       ^
#>    help: annotate it, for example x: f64[n]
