from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def f(xs: List[i64]) -> i64:
    print(xs)
    return 1


f([1, 2])

#> E1112: List[i64] cannot be shown by print
#>   --> E1112.py:13:5, in f
#>    13 |     print(xs)
#>       |     ^^^^^^^^^
#>    help: print its numbers
