import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    assert x > 0
    return log(x)

f(-1.0)

#> E0703: assertion failed: x > 0
#>   --> E0703.py:11:5, in f
#>    11 |     assert x > 0
#>       |     ^^^^^^^^^^^^
#>    help: give arguments for which the condition holds
