# ruff: noqa
# symptom: ainf: 'read where x does not hold'; loops, compiled: the wrong branch ([0, 0, 0])
# expected: p1
# arguments: p1=array([  7,   2, 254], dtype=uint8)
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import u8
n = at.sizes('n')


@at.fn
def f(p1: u8[n]):
    v8 = n > 0
    if v8 & v8:
        pass
    else:
        for j in range(0):
            p1[:] *= 0
    return p1
