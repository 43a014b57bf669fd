import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.fn(source="x = 1")

#> E0126: the text given with source= defines no function
#>    help: write a `def` in it; the last one is returned
