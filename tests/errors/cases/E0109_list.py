import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return list(x)

#> E0109: Python's list has no meaning in Atoll
#>   --> E0109_list.py:11:12, in f
#>    11 |     return list(x)
#>       |            ^^^^
#>    help: write a comprehension: [x for x in xs]
