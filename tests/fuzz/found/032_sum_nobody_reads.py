# ruff: noqa
# symptom: loops: the variable of a sum is dropped and the sum is not; its only reader stands in a branch that is never taken
# expected: 0
# arguments: p1=array([[..]], dtype=uint8), p2=np.True_
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import u8


@at.fn
def f(p1: u8[3, 1], p2: at.bool_):
    if p2:
        v39 = p1[0 if p2 else sum(p1[0])]
    else:
        pass
    return 0
