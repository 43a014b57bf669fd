import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]) -> f64[n]:
    print("x", x)
    return x + 1.0

f.show("cuda")

#> E0838: a GPU cannot run this: print
#>   --> E0838.py:11:5
#>    11 |     print("x", x)
#>       |     ^^^^^^^^^^^^^
#>    help: leave this function on the CPU: f.on("cpu")
