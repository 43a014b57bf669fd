import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return [x[:i] for i in range(n)]

#> E0310: the rows would have different sizes: the size mentions i
#>   --> E0310.py:11:13, in f
#>    11 |     return [x[:i] for i in range(n)]
#>       |             ^^^^^
#>    found:    f64[i]
#>    help: pad the rows to one size
