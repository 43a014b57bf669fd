from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def at_zero(f: at.Fn[[f64], f64]) -> f64:
    return f(0.0)


at_zero(lambda x: x + 1.0)

#> E1125: at_zero: argument f must be an Atoll function, not a Python function
#>    help: decorate it with @at.fn
