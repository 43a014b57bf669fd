import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(z: at.c128) -> at.c128:
    return z * z

at.jvp(f, 1j, 1j)

#> E1001: an argument with complex numbers has no derivative in Atoll
#>   --> E1001.py:13:1
#>    13 | at.jvp(f, 1j, 1j)
#>       | ^^^^^^^^^^^^^^^^^
#>    help: take the real and the imaginary part as arguments of their own
