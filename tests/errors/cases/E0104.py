import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


at.fn(source="def f(x:\n")

#> E0104: the text given with source= is not Python: '(' was never closed
#>   --> <text>:1:6
#>    1 | def f(x:
#>      |      ^
#>    help: mend the line shown: Python does not read this text either
