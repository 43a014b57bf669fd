import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x[:, None]

#> E0219: None in an index is not supported
#>   --> E0219_none.py:11:17, in f
#>    11 |     return x[:, None]
#>       |                 ^^^^
#>    help: use a comprehension, or rep(x) for a new leading axis
