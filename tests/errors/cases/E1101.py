from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Link:
    value: i64
    next: Link


@at.fn
def f(x: Link) -> i64:
    return x.value

#> E1101: the record Link contains itself
#>    help: end the recursion with another case: Link | None
