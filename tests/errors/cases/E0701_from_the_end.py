import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64:
    return x[-4]


f(np.zeros(3))

#> E0701: index -4 is out of range for size 3
#>   --> E0701_from_the_end.py:11:12, in f
#>    11 |     return x[-4]
#>       |            ^^^^^
#>    help: count at most 3 from the end, or make sure that there are more elements
