# ruff: noqa
# symptom: E0709: the combined element must be idx[n]
# expected: [0, 12, 2]
# arguments: p0=array([-2,  7,  2])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    return scatter([i for i in range(n)], [1, 1], [5, 6], op=add)
