"""A choice under two conditions, one of which the branch around it had tested, was moved out of the branch with only the other."""

from tests.fuzz_ad.check import check as holds

TEXT = """import atoll as at
from atoll import f64, i64
n, m = at.sizes('n m')
@at.fn
def f(x: f64[n], y: f64[n], s: f64, i: i64[n]):
    z = x * 0.5 + y
    ix = [abs(q) % n for q in i]
    if n > 2:
        y = scan(lambda a, b: a + b + -0.75 * a * b, 0.0, tanh(y) * 0.3)
    y = scatter(y, ix, x * x, op=add)
    if x[0] > z[0]:
        if n > 2:
            y = scatter(y, ix, z, op=maximum)
        s = s * s * 0.9 + y[0]
    return y, s
"""


def check() -> None:
    outcome = holds(TEXT, 2013, {"n": 3, "m": 0})
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks
