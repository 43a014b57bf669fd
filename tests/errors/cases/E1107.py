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
        case Cons(0, Nil()):
            return 1

#> E1107: this case can never be reached
#>   --> E1107.py:18:14, in f
#>    18 |         case Cons(0, Nil()):
#>       |              ^^^^^^^^^^^^^^
#>    help: remove it, or put it before the case that takes its values
