import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    return sum(x)


at.vmap(f, in_axes=2)

#> E1031: vmap: there is no axis 2 in f64[n] with an axis more
#>   --> E1031.py:12:1
#>    12 | at.vmap(f, in_axes=2)
#>       | ^^^^^^^^^^^^^^^^^^^^^
#>    help: choose among 0 to 1; None for an argument that is the same for all
