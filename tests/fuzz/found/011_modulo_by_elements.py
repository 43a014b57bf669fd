# ruff: noqa
# symptom: core.check.Malformed: the size t mentions t, which is not in scope (also E0310: rows would have different sizes): the result of % gets type idx[t] with t an element
# expected: i64[n]
# arguments: none: the front end fails
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n], p1: i64):
    return p1 % (p0 * p0 + 1)
