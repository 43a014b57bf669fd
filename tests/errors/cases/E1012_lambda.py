import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.grad(lambda x: x * x)

#> E1012: at.grad takes an Atoll function first, not a lambda
#>   --> E1012_lambda.py:9:1
#>    9 | at.grad(lambda x: x * x)
#>      | ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write a `def` with annotated parameters, decorated with @at.fn
