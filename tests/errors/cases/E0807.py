import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn(copies="explicit")
def written(x: f64[n], rounds: i64) -> f64[n]:
    x = at.copy(x)
    for j in range(rounds):
        x[j] = sum(x)
    return x


@at.fn(copies="explicit")
def f(x: f64[n], rounds: i64) -> f64[n]:
    for j in range(rounds):
        x[j] = sum(x)
    return x


assert written(np.ones(2), 1)[0] == 2.0
f(np.ones(2), 1)

#> E0807: f needs a copy that nobody wrote: x must not change (8*n bytes)
#>   --> E0807.py:19:5, in f
#>    19 |     for j in range(rounds):
#>       |     ^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write it: x = at.copy(x), or let the caller give it away: x: at.own[...]
