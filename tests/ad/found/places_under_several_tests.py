"""The adjoint of p[e] where e exists only if not all of several tests hold: what was added at those places was read without them."""

from tests.fuzz_ad.check import check as holds

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
PROGRAMS = [
    "def f(p: f64[n]):\n    w = 0\n    for x in p:\n        w = 0\n    return [0.0 if w >= 0 and w < 1 else p[argmax(full(0, x))] for x in p]\n",
    "def f(p: f64[n], k: i64):\n    return [x if k >= 0 and k % 3 < 2 else 2.0 * p[argmax(full(2, x))] for x in p]\n",
]


def check() -> None:
    for text in PROGRAMS:
        for seed in (3, 4, 5):
            for n in (0, 1, 3):
                outcome = holds(HEAD + text, seed, {"n": n, "m": 2})
                assert outcome.failure is None, outcome.failure.detail
                assert outcome.checks or n == 0, outcome
