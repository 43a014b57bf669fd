import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def g(x: f64[n * m]) -> f64[n]:
    return [0.0 for i in range(n)]

@at.fn
def f(x: f64[6]):
    return g(x)

#> E0302: the sizes in argument x of g leave an equation that has no unique solution: g.n*g.m = 6
#>   --> E0302.py:15:12, in f
#>    15 |     return g(x)
#>       |            ^^^^
#>    expected: f64[g.n*g.m]
#>    found:    f64[6]
#>    help: annotate the value, or pass the size
