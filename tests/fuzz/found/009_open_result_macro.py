# ruff: noqa
# symptom: E0803: macro at_open_result passed 5 arguments (a compound literal with a comma in a macro argument)
# expected: rows that start with True
# arguments: p0=array([[ True, False],        [False, False],        [ True,  True]])
# run: {"sizes": {"n": 3, "m": 2}, "seed": 0}
import atoll as at
n = at.sizes('n')


@at.fn
def f(p0: at.bool_[n, 2]):
    return filter(lambda x24: x24[0], p0)
