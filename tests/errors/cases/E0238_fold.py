import atoll as at
from atoll import f64, fold

n = at.sizes("n")


@at.fn
def f(x: f64[n]):
    return fold(lambda a, b: a + b, x, 0.0)

#> E0238: fold needs an array
#>   --> E0238_fold.py:9:12, in f
#>    9 |     return fold(lambda a, b: a + b, x, 0.0)
#>      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    found:    f64
#>    help: the array comes last: fold(f, init, xs)
