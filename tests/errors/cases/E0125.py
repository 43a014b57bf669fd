import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.fn(3)

#> E0125: at.fn takes a Python function, not a value of type int
#>    help: use it as a decorator: @at.fn above a `def`
