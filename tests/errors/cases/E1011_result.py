import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> (f64, i64):
    return sum(x), argmax(x)


at.jacrev(f)

#> E1011: jacrev: part 1 of the result must be a float or an array of floats, not i64
#>   --> E1011_result.py:14:1
#>    14 | at.jacrev(f)
#>       | ^^^^^^^^^^^^
#>    help: differentiate a function that gives the floats only
