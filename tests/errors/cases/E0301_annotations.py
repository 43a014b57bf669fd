import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], w: f64[k]) -> f64:
    y: f64[m] = x
    z: f64[m] = w
    return sum(y) + sum(z)

#> E0301: sizes do not match in the value: n is not k
#>   --> E0301_annotations.py:12:17, in f
#>    12 |     z: f64[m] = w
#>       |                 ^
#>    expected: f64[n]
#>    found:    f64[k]
#>    help: slice or pad one side, or declare one name for both sizes
