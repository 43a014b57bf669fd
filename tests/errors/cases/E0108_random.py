import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x + np.random.rand(n)

#> E0108: numpy.random has no meaning in Atoll
#>   --> E0108_random.py:11:16, in f
#>    11 |     return x + np.random.rand(n)
#>       |                ^^^^^^^^^
#>    help: use at.random: x = at.random.uniform(key, (n,))
