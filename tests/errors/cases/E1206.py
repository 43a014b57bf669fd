import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def f(x: f64[n, m]) -> f64[n]:
    y = [cumsum(r) for r in x]
    return [sum(sort(r)) for r in y]


f.within(memory="1KB")(np.ones((4, 1000)))

#> E1206: f does not fit into 1 kB: result takes 32 kB at once
#>    help: allow more memory
