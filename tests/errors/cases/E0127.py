import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64) -> f64:
    g = lambda v: v + 1.0
    for_each = lambda h: lambda v: h(h(h(h(v))))
    return for_each(for_each(for_each(for_each(for_each(for_each(for_each(for_each(g))))))))(x)

#> E0127: the lambda is expanded more than 10,000 times here
#>   --> E0127.py:12:38, in f
#>    12 |     for_each = lambda h: lambda v: h(h(h(h(v))))
#>       |                                      ^^^^^^^^^^
#>    help: make the functions top-level @at.fn functions without function parameters: those are called, not expanded
