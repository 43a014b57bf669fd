from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(x: i64) -> i64:
    xs: List[i64] = Cons(x, Nil())
    match xs:
        case Cons(y, _):
            return y
        case Nil():
            return 0


f.memory()

#> E1124: f has no loop nest: f uses List[i64]
#>   --> E1124.py:13:21, in f
#>    13 |     xs: List[i64] = Cons(x, Nil())
#>       |                     ^^^^^^^^^^^^^^
#>    help: call it as it is; look at it with show("core") or show("c")
