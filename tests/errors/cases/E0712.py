import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: i64) -> i64:
    return 0 if i < 0 else f(f(i + 1) + i) // 2

f(1)

#> E0712: f recurses too deeply
#>   --> E0712.py:10:1
#>    10 | def f(i: i64) -> i64:
#>       | ^^^^^^^^^^^^^^^^^^^^^
#>    help: use a loop, or a tail call
