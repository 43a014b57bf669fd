from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Circle:
    r: f64


@at.record
class Square:
    side: f64


@at.fn
def f(c: at.bool_) -> f64:
    shape = Circle(1.0) if c else Square(2.0)
    return 1.0

#> E1108: the two branches could be Circle or Square, which are not cases of one union
#>   --> E1108.py:23:13, in f
#>    23 |     shape = Circle(1.0) if c else Square(2.0)
#>       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: annotate the value with the union that is meant
