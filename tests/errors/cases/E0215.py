import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.record
class Leaf:
    value: f64

@at.record
class Other:
    value: i64

@at.fn
def f(x: Leaf | Other, c: at.bool_) -> f64:
    xs = [x for i in range(3) if c]
    return 1.0

#> E0215: there is no value of type Leaf | Other to stand in
#>   --> E0215.py:19:10, in f
#>    19 |     xs = [x for i in range(3) if c]
#>       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^
