import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return filter(lambda v: v > 0, x)

f.export_c("out")

#> E0825: f: only running it decides the size of its result, so it cannot be exported
#>    help: return an array of a known size and how many elements count, for example x[argsort([v <= 0 for v in x])], sum(v > 0 for v in x) for those above 0
