# ruff: noqa
# symptom: loops: 'r[0] is read before it is written'; an array that one branch updates in place and the other returns as it is
# expected: the interpreter's value
# arguments: p1=array([ 1,  6, -4])
# run: {"sizes": {"n": 3}, "seed": 5290}
import atoll as at
from atoll import i64


@at.fn
def f(p1: i64[3]):
    if p1[p1[1] % 3] >= 2:
        p1[2] ^= 0
        v13 = p1 % 3
        v6 = p1 + v13[0]
    else:
        v6 = p1
    v14, v15, v16 = v6
    return v14
