import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: f64[n]):
    return x, x.dtype

#> E0232: a value is needed here
#>   --> E0232_type.py:10:1, in f
#>    10 | def f(x: f64[n]):
#>       | ^^^^^^^^^^^^^^^^^
#>    found:    the type f64
#>    help: the type f64 is nothing that is returned: return numbers, arrays, tuples or records
