from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(xs: List[i64]) -> i64:
    return xs.head

#> E1111: List has no field head: which fields there are depends on the case
#>   --> E1111.py:13:12, in f
#>    13 |     return xs.head
#>       |            ^^^^^^^
#>    help: take it apart with `match`
