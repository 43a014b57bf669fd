import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x.astype(bytearray)

#> E0109: Python's bytearray has no meaning in Atoll
#>   --> E0109_bytes.py:11:21, in f
#>    11 |     return x.astype(bytearray)
#>       |                     ^^^^^^^^^
#>    help: there are numbers only; an array of bytes is u8[n]
