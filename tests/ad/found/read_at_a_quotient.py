"""The adjoint of p[i // 2, q[i // 2]] tested j = q[i] for all rows of p, also those beyond the end of q; and p[i // k] was summed over all i."""

import atoll as at
from atoll.ad.api import _reverse
from tests.fuzz_ad.check import check as holds

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
PROGRAMS = [
    "def f(p: f64[3, m + 1], q: i64):\n    v = bool(q)\n    return flatten([full(2, p[j, (q if v else j) % 1]) for j in range(2)])\n",
    "def f(p: f64[n], w: f64[3 * n + 1]):\n    return [p[i // 3] * w[i] if i < 3 * n else 0.0 for i in range(3 * n + 1)]\n",
    "def f(p: f64[n, n], q: i64[n]):\n    return [sin(p[i // 2, abs(q[i // 2]) % n]) for i in range(2 * n)]\n",
    "def f(p: f64[n], w: f64[n, m]):\n    v = flatten(w)\n    return [p[i // m] * v[i] for i in range(n * m)]\n",
]


def check() -> None:
    for text in PROGRAMS:
        for seed in (3, 4):
            outcome = holds(HEAD + text, seed, {"n": 3, "m": 2})
            assert outcome.failure is None, outcome.failure.detail
            assert outcome.checks
    shown = _reverse(at.fn(source=HEAD + PROGRAMS[3]), "vjp").show("ainf")
    assert "add r:m" in shown, shown
