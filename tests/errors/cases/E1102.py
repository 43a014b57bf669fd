from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Point:
    x: f64
    y: flaot


@at.fn
def f(p: Point) -> f64:
    return p.x

#> E1102: the field y of Point is annotated 'flaot', which is not a type
#>    help: name a type that exists when the record is first used
