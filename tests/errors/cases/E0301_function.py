import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def tail(x: f64[n + 1]) -> f64[n]:
    return x[1:]

@at.fn
def mean(g: at.Fn[[f64[n]], f64[n]], x: f64[n]) -> f64:
    return sum(g(x)) / n

@at.fn
def f(x: f64[k]) -> f64:
    return mean(tail, x)

#> E0301: sizes do not match in the result of the function tail (argument g of mean): k is not k - 1
#>   --> E0301_function.py:19:12, in f
#>    19 |     return mean(tail, x)
#>       |            ^^^^^^^^^^^^^
#>    expected: f64[k]
#>    found:    f64[k - 1]
#>    help: slice or pad one side, or declare one name for both sizes
