# ruff: noqa
# symptom: ainf, loops, compiled: E0706 when n is 0
# expected: an empty array
# arguments: p0=array([], dtype=int64), p1=np.int64(5)
# run: {"sizes": {"n": 0}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n], p1: i64):
    return [x << p1 - p1 - 4 for x in p0]
