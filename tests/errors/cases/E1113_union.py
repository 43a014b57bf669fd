from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def total(xs: List[f64]) -> f64:
    match xs:
        case Nil():
            return 0.0
        case Cons(x, _):
            return x


@at.fn
def f(x: f64) -> f64:
    return total(Cons(x, Nil()))


at.grad(f)(2.0)

#> E1113: f cannot be differentiated: total works on List[f64]
#>   --> E1113_union.py:12:1
#>    12 | def total(xs: List[f64]) -> f64:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: use a loop instead of a recursion, and numbers instead of cases
