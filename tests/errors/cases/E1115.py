from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Left:
    x: i64


@at.record
class Right:
    x: f64


Either = Left | Right


@at.fn
def f(e: Either) -> i64:
    match e:
        case Left(x) | Right(x):
            return x

#> E1115: the options of this pattern bind different names or types
#>   --> E1115.py:27:14, in f
#>    27 |         case Left(x) | Right(x):
#>       |              ^^^^^^^^^^^^^^^^^^
#>    help: bind the same names in every option
