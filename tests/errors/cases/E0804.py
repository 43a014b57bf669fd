import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return x

f.export_c("out", workspace="stack")

#> E0804: workspace must be "heap" or "caller", not 'stack'
#>    help: leave workspace out, or write workspace="caller"
