import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x

f("text")

#> E0602: f: argument x must be f64[n], not a text
#>    help: pass an array for an array, a number for a number, a tuple for a tuple, an instance for a record
