import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(i: at.u8) -> at.u8:
    return i

f(300)

#> E0607: f: argument i is 300, which does not fit u8
#>    help: pass a number that fits, or declare a wider type
