import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    return sum(x)


at.vmap(f, in_axes="rows")

#> E1030: vmap: in_axes is an axis written out, None, or a tuple of them
#>   --> E1030.py:12:1
#>    12 | at.vmap(f, in_axes="rows")
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: write in_axes=(0, None)
