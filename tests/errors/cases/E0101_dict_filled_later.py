import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(s: i64[n]):
    d = {}
    for c in s:
        d[c] = d.get(c, 0) + 1
    return d

#> E0101: a dictionary is not part of Atoll
#>   --> E0101_dict_filled_later.py:11:9, in f
#>    11 |     d = {}
#>       |         ^^
#>    help: keep what belongs to a number in an array: counts = zeros(256, dtype=i64), then counts[c] += 1
