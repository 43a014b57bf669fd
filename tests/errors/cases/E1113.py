from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


@at.fn
def power(x: f64, k: i64) -> f64:
    return 1.0 if k == 0 else x * power(x, k - 1)


at.grad(power)(2.0, 3)

#> E1113: power cannot be differentiated: power is recursive
#>   --> E1113.py:12:1
#>    12 | def power(x: f64, k: i64) -> f64:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: use a loop instead of a recursion, and numbers instead of cases
