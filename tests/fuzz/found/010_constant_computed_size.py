# ruff: noqa
# symptom: compiled: the result is a NULL pointer (segmentation fault; without the tuple a SystemError): its size is computed in the body and folds to a constant, and no one allocates it
# expected: ([0, 1, 2],)
# arguments: none
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at


@at.fn
def f():
    k = 2 ^ 1
    return (range(k),)
