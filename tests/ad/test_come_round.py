"""Adjoints of what is read at (i + c) % n: gathered where i takes all n values, so stencils whose borders come round are one pass backwards too."""

from __future__ import annotations

import re

import pytest

import atoll as at
from atoll.ad.api import _reverse
from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], y: f64[m], a: f64[n, n], s: i64):\n    return "
GATHERED = {
    "next": "[x[i] * sin(x[(i + 1) % n]) for i in range(n)]",
    "before": "[x[i] * sin(x[(i - 1) % n]) for i in range(n)]",
    "from the other end": "[x[i] * sin(x[(3 - i) % n]) for i in range(n)]",
    "far": "[x[i] * sin(x[(i + 2 * n + 3) % n]) for i in range(n)]",
    "a window": "[sum(sin(x[(i + c) % n]) * (c + 1.0) for c in range(3)) for i in range(n)]",
    "both axes": "[[a[i, j] * sin(a[(i + 1) % n, (j - 1) % n]) for j in range(n)] for i in range(n)]",
    "diagonals": "[sum(a[i, (i + j) % n] * x[j] for j in range(n)) for i in range(n)]",
}
SCATTERED = {
    "by data": "[x[i] * sin(x[(i + s) % n]) for i in range(n)]",
    "not all": "[y[i] * sin(x[(i + 1) % n]) for i in range(m)]",
    "twice as fast": "[x[i] * sin(x[2 * i % n]) for i in range(n)]",
    "a part": "[x[i] * sin(x[(i + 2) % n]) for i in range(n - 1)]",
}


@pytest.mark.parametrize("name", [*GATHERED, *SCATTERED])
def test_values_and_form(name: str) -> None:
    text = HEAD + {**GATHERED, **SCATTERED}[name] + "\n"
    for size in (1, 2, 5):
        outcome = check(text, 3, {"n": size, "m": 3})
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks
    assert bool(re.search("scatter", _reverse(at.fn(source=text), "vjp").show("ainf"))) == (name in SCATTERED)
