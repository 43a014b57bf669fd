import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def f(a: f64[n, m], b: f64[n, m]):
    return np.einsum("ij,jk->ik", a, b)

#> E0301: sizes do not match in np.einsum, where j is axis 1 of operand 0 and axis 0 of operand 1: m is not n
#>   --> E0301_einsum.py:11:12, in f
#>    11 |     return np.einsum("ij,jk->ik", a, b)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: slice or pad one side, or declare one name for both sizes
