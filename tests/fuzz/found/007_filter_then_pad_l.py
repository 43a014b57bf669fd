# ruff: noqa
# symptom: loops: reads c[i - 2] at i = 0: the condition of the padding is lost for rows of an open size
# expected: padded rows
# arguments: p1=array([], shape=(0, 1), dtype=bool), p2=np.False_
# run: {"sizes": {"n": 0, "m": 2}, "seed": 0}
import atoll as at
n = at.sizes('n')


@at.fn
def f(p1: at.bool_[n, 1], p2: at.bool_):
    v7 = filter(lambda x8: p2, p1)
    return pad_l(v7, 2)
