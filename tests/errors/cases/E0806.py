import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return x

f.show("assembly")

#> E0806: there is no stage 'assembly'
#>    help: use one of surface, core, ainf, term, plan, loops, passes, rewritten, c, cuda
