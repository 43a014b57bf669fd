import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def take(a: at.own[f64[n]]) -> f64[n]:
    a[n - 1] = 0.5
    return a


@at.fn
def f(x: f64[n]):
    y = take(x)
    return x + y

#> E0401: x is given to take, which may overwrite it, but it is read again
#>   --> E0401.py:15:14, in f
#>    15 |     y = take(x)
#>       |              ^
#>    help: give a copy: at.copy(x), or use what take returns
