# ruff: noqa
# symptom: loops: reads u[i - 1] at i = 0: the condition of the padding is lost
# expected: rows after one row of zeros
# arguments: k1=np.int64(2), p1=np.False_
# run: {"sizes": {"n": 3, "k1": 2}, "seed": 3}
import atoll as at
from atoll import i64
k1 = at.sizes('k1')


@at.fn
def f(k1: i64, p1: at.bool_):
    v = full((k1, 2), 0)
    if p1:
        v[0] = 1
    return pad_l(v, 1)
