# ruff: noqa
# symptom: ainf, loops, compiled: 0 instead of 2: a choice between branches was itself put under the condition of one of them
# expected: [2]
# arguments: k1=0
# run: {"sizes": {"n": 0}, "seed": 0}
import numpy as np
import atoll as at
from atoll import i64
W1 = np.array([2])


@at.fn
def f(k1: i64):
    v13 = W1
    v39 = 1 != k1 and (False if k1 >= 5 else True)
    if v39:
        pass
    else:
        v13[0] ^= 0
    return v13
