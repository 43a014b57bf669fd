import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return [[1, 2], [3]]

#> E0301: sizes do not match in the items of the array: 2 is not 1
#>   --> E0301_ragged.py:11:12, in f
#>    11 |     return [[1, 2], [3]]
#>       |            ^^^^^^^^^^^^^
#>    expected: i64[2]
#>    found:    i64[1]
#>    help: give every row as many items: there are no ragged arrays; concat(a, b) joins rows of different sizes
