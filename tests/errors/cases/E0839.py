import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn(bits="exact")
def f(x: f64[n]) -> f64:
    return sum(x)


#> E0839: bits='exact' is neither "processor" nor "portable"
#>    help: leave it out, or write bits="portable" for the same bits on every kind of processor
