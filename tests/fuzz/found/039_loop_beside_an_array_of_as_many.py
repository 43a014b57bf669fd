# ruff: noqa
# symptom: every compiled stage: [0 0] instead of [1 1]: a loop was put under what only the elements of an empty array need
# expected: the interpreter's value
# arguments: k1=0, p1=array([], dtype=int32)
# run: {"sizes": {"k1": 0}, "seed": 0}
import atoll as at
from atoll import i32, i64
k1 = at.sizes('k1')


@at.fn
def f(k1: i64, p1: i32[k1]):
    cnt1 = k1 % 5
    v3 = [p1[cnt1] for j2 in range(cnt1)]
    w8 = ones(2)
    for j9 in range(3, 0, 1):
        v3[0] -= 0
        w8[0] = 0
    return w8
