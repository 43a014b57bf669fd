# ruff: noqa
# symptom: E0709: c[0] needs n >= 6: the elements stay idx[n], so an ordinary assignment is a range check
# expected: [5, 1, 2]: the array decays to i64 when something else is stored
# arguments: p0=array([-2,  7,  2])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    c = [i for i in range(n)]
    c[0] = 5
    return c
