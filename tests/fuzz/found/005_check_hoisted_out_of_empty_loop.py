# ruff: noqa
# symptom: ainf, loops, compiled: E0701 when n is 0; the loop has no round, so p1[0] is never evaluated
# expected: an empty array
# arguments: p0=array([], dtype=uint8), p1=array([], dtype=bool)
# run: {"sizes": {"n": 0}, "seed": 0}
import atoll as at
from atoll import u8
n = at.sizes('n')


@at.fn
def f(p0: u8[n], p1: at.bool_[n]):
    return [x for x in p0 if p1[0]]
