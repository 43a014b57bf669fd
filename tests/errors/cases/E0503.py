import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def f(a: f64[n, m]) -> f64[n]:
    return [sum(a[i, j] for j in range(m)) for i in range(n)]


at.schedule(f).parallel("j").compile()

#> E0503: parallel('j'): j is a sum: its rounds add to the same place
#>   --> E0503.py:14:15
#>    14 | at.schedule(f).parallel("j").compile()
#>       |               ^^^^^^^^^^^^^^
