from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def nest(x: a, k: i64) -> i64:
    return k if k == 0 else nest((x, x), k - 1)


@at.fn
def f(k: i64) -> i64:
    return nest(1, k)


f(3)

#> E1114: nest calls itself at ever more types
#>   --> E1114.py:13:29, in nest
#>    13 |     return k if k == 0 else nest((x, x), k - 1)
#>       |                             ^^^^^^^^^^^^^^^^^^^
#>    help: call it at the type it was called with
