import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]):
    return scan(add, x)

#> E0237: scan is missing its argument xs
#>   --> E0237_neutral.py:9:12, in f
#>    9 |     return scan(add, x)
#>      |            ^^^^^^^^^^^^
#>    help: add xs: scan(op, ne, xs)
