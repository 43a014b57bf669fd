# ruff: noqa
# symptom: ainf: 'read where x does not hold'
# expected: 0 when p0 is true
# arguments: p0=np.True_, p1=array([ 6, -9,  3])
# run: {"sizes": {"n": 3, "m": 2}, "seed": 1}
import atoll as at
from atoll import i64


@at.fn
def f(p0: at.bool_, p1: i64[3]):
    match 0 if p0 else 1:
        case 1 | 2:
            v8 = argmax(p1)
        case _:
            v8 = 0
    return v8
