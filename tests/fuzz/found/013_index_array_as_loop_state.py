# ruff: noqa
# symptom: E0117: c changes its type in the loop: expected idx[n], found i64
# expected: accepted: scalars decay as loop state, arrays of indices should too
# arguments: none: the front end fails
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    c = [i for i in range(n)]
    for k in range(3):
        c = c * 2
    return c
