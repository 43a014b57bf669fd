import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    y = x * 2.0
    s = sum(y)
    return y / s

f.with_plan(s="inline")

#> E0817: the plan s='inline' cannot be followed: it is a reduction, which is computed once
#>   --> E0817.py:12:9, in f
#>    12 |     s = sum(y)
#>       |         ^^^^^^
#>    help: leave s out of the plan: the compiler then decides as usual
