import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn(copies="none")
def f(x: f64) -> f64:
    return x

#> E0808: copies must be "any" or "explicit", not 'none'
#>    help: write @at.fn(copies="explicit"), or leave it out
