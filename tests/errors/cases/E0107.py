import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.exp(1.0)

#> E0107: exp means something only inside a function decorated with @at.fn
#>    help: call it in a body, or use NumPy's own function here
