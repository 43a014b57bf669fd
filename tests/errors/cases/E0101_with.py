import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    with open("x") as file:
        return x

#> E0101: `with` is not part of Atoll
#>   --> E0101_with.py:11:5, in f
#>    11 |     with open("x") as file:
#>       |     ^^^^^^^^^^^^^^^^^^^^^^^
#>    help: an Atoll function has no resources to manage; remove it
