# ruff: noqa
# symptom: loops: KeyError: the updated array is given to a branch that does not run
# expected: [True]
# arguments: p0=np.False_, p1=array([ True])
# run: {"sizes": {"n": 3}, "seed": 6610}
import atoll as at


@at.fn
def f(p0: at.bool_, p1: at.bool_[1]):
    p1[0] = True
    if p1[0]:
        if p0:
            pass
        else:
            p1[0] = p0
    return p1
