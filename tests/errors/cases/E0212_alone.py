import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return 9223372036854775808

#> E0212: 9223372036854775808 does not fit i64
#>   --> E0212_alone.py:11:12, in f
#>    11 |     return 9223372036854775808
#>       |            ^^^^^^^^^^^^^^^^^^^
#>    help: use a wider type
