import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], n: i64) -> f64:
    return sum(x)

#> E0313: n is used as a size before it comes as a parameter
#>   --> E0313.py:10:7, in f
#>    10 | def f(x: f64[n], n: i64) -> f64:
#>       |       ^^^^^^^^^
#>    help: put n first, or leave it out: a size is bound by the arrays
