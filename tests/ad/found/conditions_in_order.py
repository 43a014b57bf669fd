"""A line under two conditions tested first the one that reads a value only the other makes exist, and its adjoint was lost where that one fails."""

from tests.fuzz_ad.check import check as holds

TEXT = """import atoll as at
from atoll import f64, i64
n, m = at.sizes('n m')
@at.fn
def f(x: f64[n], y: f64[n], s: f64, i: i64[n]):
    z = at.copy(y)
    if i[0] == 0:
        z[0] = s * 0
    z = z[0]
    return x + z
"""


def check() -> None:
    for seed in (2745, 3, 6):
        outcome = holds(TEXT, seed, {"n": 1, "m": 0, "k1": 0})
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks
