import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return [f64 for v in x]

#> E0232: a value is needed here
#>   --> E0232.py:11:13, in f
#>    11 |     return [f64 for v in x]
#>       |             ^^^
#>    found:    the type f64
#>    help: call it, or write the value that is meant
