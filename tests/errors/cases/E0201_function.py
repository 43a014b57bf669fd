import numpy as np

import atoll as at
from atoll import f64, i64, u8

n, m, k = at.sizes("n m k")


@at.fn
def square(i: i64) -> i64:
    return i * i

@at.fn
def byte(g: at.Fn[[i64], u8], i: i64) -> i64:
    return i64(g(i))

@at.fn
def f(i: i64) -> i64:
    return byte(square, i)

#> E0201: the result of the function square (argument g of byte) does not have the expected type
#>   --> E0201_function.py:19:12, in f
#>    19 |     return byte(square, i)
#>       |            ^^^^^^^^^^^^^^^
#>    expected: u8
#>    found:    i64
#>    help: write u8(...) to convert
