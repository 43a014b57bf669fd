from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


from atoll.std.maps import Map


@at.fn
def f(m: Map[i64]) -> i64:
    return 1

#> E1104: Map takes 2 types, not 1
