import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    return x

f.on("gpu")

#> E0837: f.on is given 'gpu', which is no target
#>    help: use "cpu", "cuda", or "cuda:1" for a second GPU
