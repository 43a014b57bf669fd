import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


a = at.types("a")

@at.fn
def same(x: a, y: a) -> a:
    return x

@at.fn
def f(x: f64, z: at.c128):
    return same((x, x), z)

#> E0241: the type variable a of same would be both (f64, f64) and c128
#>   --> E0241.py:17:12, in f
#>    17 |     return same((x, x), z)
#>       |            ^^^^^^^^^^^^^^^
#>    help: convert one of the arguments
