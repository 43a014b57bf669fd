# ruff: noqa
# symptom: E0310: the rows would have different sizes: the size mentions i (element type idx[i % 5 + 1])
# expected: accepted: an idx decays to i64 where its size is not known outside
# arguments: none: the front end fails
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    return [i % (i % 5 + 1) for i in range(n)]
