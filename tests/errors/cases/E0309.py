import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: at.bool_):
    return filter(lambda v: v > 0, x) if c else x

#> E0309: the size len(filter(lambda v: v > 0, x)) is known only inside this branch or loop
#>   --> E0309.py:11:12, in f
#>    11 |     return filter(lambda v: v > 0, x) if c else x
#>       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    found:    f64[len(filter(lambda v: v > 0, x))]
#>    note: len(filter(lambda v: v > 0, x)) is decided by filter(lambda v: v > 0, x) (line 11)
#>    help: make the array outside, or return its sum, its elements, ... instead
