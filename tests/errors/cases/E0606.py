import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


RATE = 2.0

@at.fn
def f(x: f64) -> f64:
    return RATE * x

f(1.0)
RATE = 3.0
f(1.0)

#> E0606: f: the captured constant RATE has changed since f was compiled
#>    help: pass RATE as an argument, or call f.refresh()
