"""A line under two conditions, one of which the branch around it had tested, was moved out of the branch with only the other: it read an array
that the branch alone makes."""

from tests.fuzz_ad.check import check as holds

TEXT = """import atoll as at
from atoll import f64, i64
n, m = at.sizes('n m')
@at.fn
def f(x: f64[n], y: f64[n], i: i64[n]):
    ix = [q % n for q in i]
    if 0 > x[0]:
        y = hist(add, 0.0, n, [q - 1 for q in ix], y, mode='drop')
        y = [y[0] * y[j] for j in range(n)]
    return y
"""


def check() -> None:
    outcome = holds(TEXT, 1185, {"n": 2, "m": 0, "k1": 0})
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks
