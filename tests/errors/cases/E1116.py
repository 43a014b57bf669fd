from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(xs: List[i64]) -> i64:
    match xs:
        case Nil():
            return 0
        case Cons(x, _):
            return x


f(3)

#> E1116: f: argument xs must be List[i64], not a int
