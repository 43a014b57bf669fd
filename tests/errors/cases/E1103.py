from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.record
class Some:
    value: i64


Number = Some | i64

#> E1103: i64 cannot be a case of a union
#>    help: join records (@at.record) and None
