from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(k: i64, y: f64) -> f64:
    def go(x, i: i64) -> f64:
        return 0.0 if i == 0 else go(x, i - 1)

    return go(y, k) + go((y, y), k)

#> E1122: the function go is called with more than one type
#>   --> E1122.py:16:23, in f
#>    16 |     return go(y, k) + go((y, y), k)
#>       |                       ^^^^^^^^^^^^^
#>    expected: at.Fn[[f64, i64], f64]
#>    found:    (f64, f64), i64
#>    help: annotate its parameters
