import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], c: i64) -> f64[n]:
    for i in at.loop(n, checkpoint=c):
        x[i] = 0.0
    return x

#> E1018: the depth of checkpoint is a whole number written out, 0 or more
#>   --> E1018.py:11:14, in f
#>    11 |     for i in at.loop(n, checkpoint=c):
#>       |              ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write checkpoint=2: the loop is cut into blocks two levels deep
