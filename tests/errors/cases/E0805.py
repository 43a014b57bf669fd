import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return sort(x)

f.export_c("out", workspace="caller")

#> E0805: f: sorting needs the heap, so it cannot be exported this way
#>    help: leave workspace out, so that the heap is used
