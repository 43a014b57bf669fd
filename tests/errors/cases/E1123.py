from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def adder(k: i64) -> at.Fn[[i64], i64]:
    return lambda x: x + k


adder(3)

#> E1123: adder cannot be called from Python: at.Fn[[i64], i64] has no meaning there
#>   --> E1123.py:12:1
#>    12 | def adder(k: i64) -> at.Fn[[i64], i64]:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: call it from another Atoll function that returns numbers, arrays, records or unions of them
