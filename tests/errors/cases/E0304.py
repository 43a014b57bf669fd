import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return [x[0] for i in range(m)]

#> E0304: the size m is not bound by any parameter of this function
#>   --> E0304.py:11:33, in f
#>    11 |     return [x[0] for i in range(m)]
#>       |                                 ^
#>    help: use it in a parameter's type, or make it an integer parameter
