import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    for i in range(n):
        if x[i] > 0:
            part = x[:i]
            return part
    return x

#> E0131: this loop returns a value of type f64[i], whose size is known only inside the loop
#>   --> E0131.py:11:5, in f
#>    11 |     for i in range(n):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    help: put the value into an array whose size is known before the loop, and return that and its length
