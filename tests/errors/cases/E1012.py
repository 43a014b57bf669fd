import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


def square(x):
    return x * x


at.grad(square)

#> E1012: at.grad takes an Atoll function first, not a plain Python function
#>   --> E1012.py:13:1
#>    13 | at.grad(square)
#>       | ^^^^^^^^^^^^^^^
#>    help: decorate it with @at.fn
