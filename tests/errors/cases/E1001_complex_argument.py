import numpy as np

import atoll as at
from atoll import c128, f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: c128) -> f64:
    return abs(z)


at.jvp(f, 1j, 1j)

#> E1001: an argument with complex numbers has no derivative in Atoll
#>   --> E1001_complex_argument.py:14:1
#>    14 | at.jvp(f, 1j, 1j)
#>       | ^^^^^^^^^^^^^^^^^
#>    help: take the real and the imaginary part as arguments of their own
