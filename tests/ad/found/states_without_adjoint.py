"""States that the result does not depend on overflowed, and 0 times infinity got into the gradient: they have no adjoint at all."""

from tests.fuzz_ad.check import check as holds

TEXT = """import atoll as at
from atoll import f64
n, m = at.sizes("n m")
@at.fn
def f(x: f64[n], y: f64[n], s: f64):
    z = y
    for t in range(n):
        y = [dot(y, y) * 9.0 + v * s for v in y]
        for u in range(1, n):
            z[u] = z[u] * s
            y = [y[j] * y[j] * 99.0 + z[j] + 9.0 for j in range(n)]
            s = tanh(s * sum(x))
    return x, s
"""


def check() -> None:
    outcome = holds(TEXT, 4, {"n": 4, "m": 0})
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks and not outcome.refused
