import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    return sum(x)


at.tree.map(max, (1, 2), (1,))

#> E1032: at.tree: a tuple of 2 and a tuple of 1 are not built alike
#>    help: give values of the same tuples, lists and records
