# ruff: noqa
# symptom: ZeroDivisionError from sizes/poly.py:value, called by prover.counterexample (translation and lowering)
# expected: the element, or 7 when n is 0
# arguments: p0=array([-2,  7,  2])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p0: i64[n]):
    return p0[5 % len(p0)] if len(p0) > 0 else 7
