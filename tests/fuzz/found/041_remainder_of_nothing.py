# ruff: noqa
# symptom: an element of an array of none is read: k % n was taken as less than n also where n is 0
# expected: the interpreter's value
# arguments: n=0, p0=array([], dtype=int32)
# run: {"sizes": {"n": 0}, "seed": 903941}
import atoll as at
from atoll import i32
n = at.sizes('n')


@at.fn
def f(p0: i32[n]):
    p0[::-1] = 0
    s4 = range(1)

    def g18(a16, a17):
        return 0 % (p0[s4[0] % len(p0)] if len(p0) > 0 else a17)
    v19 = map(g18, p0, p0)
    return v19
