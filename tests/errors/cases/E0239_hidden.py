import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    len = 3
    return x[0] + len(x)

#> E0239: this is not a function
#>   --> E0239_hidden.py:12:19, in f
#>    12 |     return x[0] + len(x)
#>       |                   ^^^^^^
#>    found:    i64
#>    help: len is a name of your own here and hides the function len: give it another name
