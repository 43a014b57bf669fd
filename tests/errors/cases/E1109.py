from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


from atoll.std.lists import length


@at.fn
def f(k: i64) -> i64:
    return k + length(Nil())

#> E1109: nothing determines the type a of length here
#>   --> E1109.py:16:16, in f
#>    16 |     return k + length(Nil())
#>       |                ^^^^^^^^^^^^^
#>    help: annotate the value where it is made, for example xs: List[i64] = Nil()
