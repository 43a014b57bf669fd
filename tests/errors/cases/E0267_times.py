import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(k: i64[n]):
    return [1.0] * k

#> E0267: `*` of a display means one thing for lists and another for arrays
#>   --> E0267_times.py:11:12, in f
#>    11 |     return [1.0] * k
#>       |            ^^^^^^^^^
#>    help: write mul([...], k) for the products of their elements; copies need one number: [...] * 3
