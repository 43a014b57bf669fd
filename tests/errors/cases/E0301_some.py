import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return x[x > 0]

#> E0301: sizes do not match in the result: n is not len(x[x > 0])
#>   --> E0301_some.py:9:12, in f
#>    9 |     return x[x > 0]
#>      |            ^^^^^^^^
#>    expected: f64[n]
#>    found:    f64[len(x[x > 0])]
#>    note: len(x[x > 0]) is decided by x[x > 0] (line 9)
#>    help: declare a size that only running decides: k = at.some("k") beside at.sizes, and k in place of this size after the arrow
