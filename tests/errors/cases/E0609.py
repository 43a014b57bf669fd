import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


a = at.types("a")

@at.fn
def f(g: at.Fn[[a], a], x: a) -> a:
    return g(x)

f(abs, 1.0)

#> E0609: f is generic: it has type variables or function parameters
#>   --> E0609.py:12:1
#>    12 | def f(g: at.Fn[[a], a], x: a) -> a:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: call it from another Atoll function
