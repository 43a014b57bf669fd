import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    total = sum(x)
    return None

#> E0113: `return` without a value
#>   --> E0113_none.py:10:1, in f
#>    10 | def f(x: f64[n]):
#>       | ^^^^^^^^^^^^^^^^^
#>    help: return the result, not None
