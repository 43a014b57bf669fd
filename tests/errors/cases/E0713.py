import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n], size: i64) -> f64:
    far = scan(add, 0.0, [x[i % n] for i in range(size)])
    return sum(far[size - 1 - i] * far[i] for i in range(size))

f(np.ones(1), 1 << 45)

#> E0713: f: there is not enough memory
#>    help: see .memory() for what the program allocates
