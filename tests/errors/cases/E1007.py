import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def square(x: f64) -> f64:
    return x * x


@at.fn
def wrong(x: f64, dy: f64) -> f64:
    return 3 * x * dy

square.def_vjp(wrong)

#> E1007: the derivative given to square is wrong: in a random direction it gives -0.302476, the derivative is -0.201651
#>   --> E1007.py:15:1
#>    15 | def wrong(x: f64, dy: f64) -> f64:
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: correct it, or leave it out: Atoll finds the derivative itself
