import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return filter(lambda v: v > 0, x)

f.export_c("out", workspace="caller")

#> E0805: f: a result whose size only running decides needs the heap, so it cannot be exported this way
#>    help: leave workspace out, so that the heap is used
