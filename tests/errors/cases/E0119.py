from __future__ import annotations

import atoll as at
from atoll import f64


@at.fn
def f(x: f64[q]) -> f64:
    return sum(x)

#> E0119: the type or size q is not defined
#>   --> E0119.py:8:14, in f
#>    8 | def f(x: f64[q]) -> f64:
#>      |              ^
#>    help: declare sizes with q = at.sizes("q")
