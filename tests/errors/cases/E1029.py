import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    return sum(x)


at.grad(f, has_aux=True)

#> E1029: grad: with has_aux=True the function returns a float and something else, not f64
#>   --> E1029.py:12:1
#>    12 | at.grad(f, has_aux=True)
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^
#>    help: return the number to differentiate and the rest as a pair: return loss, (a, b)
