# ruff: noqa
# symptom: loops: 'result0 was not written everywhere'; compiled: wrong elements
# expected: [0, 1, 2]
# arguments: none
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at


@at.fn
def f():
    v = range(3)
    v[1] += 0
    return v
