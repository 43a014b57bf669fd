import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n], k: f64):
    print(f"k is {k:d}")
    return x

#> E0269: the format 'd' does not fit f64
#>   --> E0269.py:9:19, in f
#>    9 |     print(f"k is {k:d}")
#>      |                   ^
#>    help: use d or x for integers, .3f or .3e for floats
