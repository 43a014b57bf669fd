# ruff: noqa
# symptom: KeyError 'expected' from errors/base.py: the title of E0602 has {expected} and {found}, which make() takes as its own parameters
# expected: E0602
# arguments: f.interpret(None)
# run: {"call": "f.interpret(None)"}
import atoll as at
from atoll import f64
n = at.sizes('n')


@at.fn
def f(p0: f64[n]):
    return p0
