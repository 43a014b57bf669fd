from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(x: f64) -> f64:
    fs = Cons(lambda y: y + 1.0, Nil())
    return x

#> E1110: a function becomes a value at run time, so its type must be known
#>   --> E1110.py:13:10, in f
#>    13 |     fs = Cons(lambda y: y + 1.0, Nil())
#>       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: annotate its parameters, or the place it goes to: f: at.Fn[[i64], i64] = ...
