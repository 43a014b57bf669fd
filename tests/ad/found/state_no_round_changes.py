"""What rounds read of a state that none of them changes is the same for all of them, and was taken out of the backward loop with its adjoint lost."""

from tests.fuzz_ad.check import check as holds

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
PROGRAMS = [
    "def f(x: f64[n], y: f64[n]):\n    z = y\n    ix = 0\n    for t in range(1, n):\n        z = scatter(z, ix, x, op=add)\n    return z\n",
    "def f(x: f64[n], c: f64[n]):\n    s = 1.0\n    for t in range(n - 1):\n        x[t + 1] = sin(x[0]) * c[t]\n        s = s * x[0]\n    return x, s\n",
]


def check() -> None:
    for text in PROGRAMS:
        for seed in (3, 4):
            outcome = holds(HEAD + text, seed, {"n": 3, "m": 2})
            assert outcome.failure is None, outcome.failure.detail
            assert outcome.checks
