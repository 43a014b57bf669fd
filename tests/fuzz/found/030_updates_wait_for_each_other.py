# ruff: noqa
# symptom: AssertionError in plan/inplace.py: stages depend on each other in a circle
# expected: the interpreter's value
# arguments: p0=np.True_
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at


@at.fn
def f(p0: at.bool_):
    s2 = range(3)
    v8 = repeat(s2, 2)
    w9 = 0
    for j10 in range(1):
        if p0:
            v8[j10] *= s2[0]
            v12 = s2
        else:
            for x22 in v8:
                s2 = s2
            v12 = v8[0]
        w9 = v12[0] - s2[0]
    return w9
