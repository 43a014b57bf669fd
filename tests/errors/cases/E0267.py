import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return [1.0] + [2.0]

#> E0267: `+` of a display means one thing for lists and another for arrays
#>   --> E0267.py:11:12, in f
#>    11 |     return [1.0] + [2.0]
#>       |            ^^^^^^^^^^^^^
#>    help: write concat([...], [...]) for one after the other, add([...], [...]) for the sums of their elements
