import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(a: f64[n, m], x: f64[1]):
    return a + x

#> E0301: sizes do not match in `+`: m is not 1
#>   --> E0301_one.py:11:12, in f
#>    11 |     return a + x
#>       |            ^^^^^
#>    expected: f64[m]
#>    found:    f64[1]
#>    note: lifted: map(lambda y: map(add, y, x), a)
#>    help: a declared size of 1 is not stretched: index that axis, x[0] or x[:, 0], and what is left is repeated; x[:, 0][:, None] makes an axis that meets any size
