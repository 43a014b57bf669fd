import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64) -> i64:
    return 1 if i <= 0 else i * f(i - 1)

f.show("loops")

#> E0801: f calls itself, so there is no loop nest for it
#>   --> E0801.py:11:33, in f
#>    11 |     return 1 if i <= 0 else i * f(i - 1)
#>       |                                 ^^^^^^^^
#>    help: call it as it is; look at it with show("core") or show("c")
