# ruff: noqa
# symptom: ainf: x1 read at -1; compiled: a wrong value: an update of no elements replaces one
# expected: [5]
# arguments: none
# run: {"sizes": {"n": 0}, "seed": 0}
import numpy as np
import atoll as at
W1 = np.array([0, 5, 5], dtype=np.int32)


@at.fn
def f():
    v16 = W1[1:-1]
    v16[1:] -= 1
    return v16
