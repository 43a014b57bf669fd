import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn(bits="portable")
def f(x: f64[n]) -> f64:
    return sum(x)


#> E0839: bits='portable' is not there
#>    help: leave bits= out: results are the same for every number of threads, pieces and runs on one kind of processor
