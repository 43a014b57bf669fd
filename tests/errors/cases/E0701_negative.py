import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return [x[i] - x[i - 1] for i in range(n)]


f(np.zeros(3))

#> E0701: index -1 is out of range for size 3
#>   --> E0701_negative.py:11:20, in f
#>    11 |     return [x[i] - x[i - 1] for i in range(n)]
#>       |                    ^^^^^^^^
#>    help: only a literal or a size counts from the end; write x[len(x) - k] for that, or x[(i - 1) % n] to go round
