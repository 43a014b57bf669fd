import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    s = 0.0
    for i in range(0, n, 0):
        s += x[i]
    return s

#> E0223: a step must not be 0
#>   --> E0223_range.py:10:14, in f
#>    10 |     for i in range(0, n, 0):
#>       |              ^^^^^^^^^^^^^^
#>    help: write another step: range(n - 1, -1, -1) goes backwards
