# ruff: noqa
# symptom: loops, compiled: 0 instead of 7 (ainf: 'read where x does not hold'): the condition of the branch is lost
# expected: 7 when p0 is true
# arguments: p0=np.True_, p1=array([ 6, -9,  3])
# run: {"sizes": {"n": 3, "m": 2}, "seed": 1}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: at.bool_, p1: i64[n]):
    match 0 if p0 else 1:
        case 1 | 2:
            v = sum(p1)
        case _:
            v = 7
    return v
