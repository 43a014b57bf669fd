from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Leaf:
    pass


@at.fn
def f(xs: List[i64]) -> i64:
    match xs:
        case Nil():
            return 0
        case Leaf():
            return 1

#> E1105: Leaf is not a case of List
#>   --> E1105.py:21:14, in f
#>    21 |         case Leaf():
#>       |              ^^^^^^
#>    help: its cases are Nil, Cons
