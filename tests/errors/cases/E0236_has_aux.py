import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], y: f64) -> f64:
    return y * sum(x)


at.jacrev(f, has_aux=True)

#> E0236: at.jacrev has no parameter has_aux
#>   --> E0236_has_aux.py:14:1
#>    14 | at.jacrev(f, has_aux=True)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: at.grad and at.value_and_grad have it; here, differentiate a function that gives the arrays only
