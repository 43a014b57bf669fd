import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.record
class Point:
    x: f64
    y: f64

@at.fn
def f(p: Point) -> f64:
    return p.z

#> E0229: Point has no field z
#>   --> E0229.py:16:12, in f
#>    16 |     return p.z
#>       |            ^^^
#>    help: it has x, y
