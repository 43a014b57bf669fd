import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(a: f64[n, m]):
    return np.einsum("ijk->k", a)

#> E0268: the text "ijk->k" gives 3 letters to an array with 2 axes
#>   --> E0268.py:11:12, in f
#>    11 |     return np.einsum("ijk->k", a)
#>       |            ^^^^^^^^^^^^^^^^^^^^^^
#>    help: one letter for each axis of each operand, a comma between operands: "ij,jk->ik"
