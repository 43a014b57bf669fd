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
        case Cons(0 | 1, _):
            return 1

#> E1106: this `match` misses a case: Cons(_, _)
#>   --> E1106_number.py:13:11, in f
#>    13 |     match xs:
#>       |           ^^
#>    help: add `case Cons(_, _):`, or `case _:` for everything else
