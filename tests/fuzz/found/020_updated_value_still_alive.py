# ruff: noqa
# symptom: loops, compiled: both results are [1, ...]: the second update is done in place although the first value is returned
# expected: ([0, ...], [1, ...])
# arguments: p0=array([-2,  7,  2])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    p0[0] = 0
    s = p0
    p0[0] = 1
    return (s, p0)
