import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64):
    return {"x": x}

#> E0101: a dictionary is not part of Atoll
#>   --> E0101_dict.py:11:12, in f
#>    11 |     return {"x": x}
#>       |            ^^^^^^^^
#>    help: use a record (@at.record) or a tuple
