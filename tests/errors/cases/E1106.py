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
        case Cons(x, Cons(y, _)):
            return x + y

#> E1106: this `match` misses a case: Cons(_, Nil())
#>   --> E1106.py:13:11, in f
#>    13 |     match xs:
#>       |           ^^
#>    help: add `case Cons(_, Nil()):`, or `case _:` for everything else
