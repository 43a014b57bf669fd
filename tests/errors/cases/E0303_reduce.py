import atoll as at
from atoll import f64, reduce

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return reduce(lambda a, b: a + b, x, 0.0)

#> E0303: nothing determines the size len(rep(0.0)) here
#>   --> E0303_reduce.py:9:12, in f
#>    9 |     return reduce(lambda a, b: a + b, x, 0.0)
#>      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    found:    f64[len(rep(0.0))]
#>    note: lifted: map(lambda y: reduce(lambda a, b: a + b, y, rep(0.0)), x)
#>    help: the array comes last: reduce(op, ne, xs)
