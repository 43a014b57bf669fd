import atoll as at
from atoll import f64


@at.fn
def f(x: f64) -> f64:
    while at.bound(3) and x < 100.0:
        x = x * 1.5
    return x


f(1.0)

#> E1019: the loop goes on after as many rounds as at.bound(3) allows
#>   --> E1019.py:7:11, in f
#>    7 |     while at.bound(3) and x < 100.0:
#>      |           ^^^^^^^^^^^
#>    help: give a larger bound, or leave it out: a while loop counts its rounds itself
