import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def g(x: f64[2 * n]) -> f64:
    return sum(x)

@at.fn
def f(x: f64[5]) -> f64:
    return g(x)

#> E0311: no size satisfies 2*g.n = 5 in argument x of g
#>   --> E0311.py:15:12, in f
#>    15 |     return g(x)
#>       |            ^^^^
#>    expected: f64[2*g.n]
#>    found:    f64[5]
#>    help: pass an array of another size
