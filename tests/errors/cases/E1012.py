import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.grad(np.sin)

#> E1012: at.grad takes an Atoll function first, not a plain Python function
#>   --> E1012.py:9:1
#>    9 | at.grad(np.sin)
#>      | ^^^^^^^^^^^^^^^
#>    help: decorate it with @at.fn
