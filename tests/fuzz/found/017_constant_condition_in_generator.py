# ruff: noqa
# symptom: IndexError (list index out of range) in elaborate/comprehension.py: neutral(found[0]) when the condition is the literal False
# expected: 0
# arguments: none: the front end fails
# run: {"sizes": {"n": 3, "m": 2}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    return sum(x for x in p0 if False)
