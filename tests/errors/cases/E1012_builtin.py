import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.grad(at.sum)

#> E1012: at.grad takes an Atoll function first, not the built-in sum, which has many types
#>   --> E1012_builtin.py:9:1
#>    9 | at.grad(at.sum)
#>      | ^^^^^^^^^^^^^^^
#>    help: say of which type: @at.fn above `def f(x: f64[n]): return sum(x)`
