# ruff: noqa
# symptom: ValueError (truth value of an array) in elaborate/ranks/names.py:of_object
# expected: 1 + p
# arguments: none: the front end fails
# run: {"sizes": {"n": 3}, "seed": 0}
import numpy as np
import atoll as at
from atoll import i64


W1 = np.array([1, 3])


@at.fn
def f(p: i64):
    def g(a):
        return W1[0] + a
    return g(p)
