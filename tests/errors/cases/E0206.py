import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128, w: at.c128) -> at.bool_:
    return z < w

#> E0206: complex numbers have no order, so `<` does not apply
#>   --> E0206.py:11:12, in f
#>    11 |     return z < w
#>       |            ^^^^^
#>    help: compare abs(x), x.real or x.imag
