import numpy as np

import atoll as at
from atoll import *

n, m, k = at.sizes("n m k")


@at.record
class P:
    x: f64


Q = P


@at.record
class P:
    x: f64


@at.fn
def f(a: P, b: Q, c: bool_):
    return a if c else b

#> E1108: the two branches could be P or another P, declared elsewhere, which are not cases of one union
#>   --> E1108_same_name.py:24:12, in f
#>    24 |     return a if c else b
#>       |            ^^^^^^^^^^^^^
#>    help: declare the record once and use that class for both: two declarations are two types
