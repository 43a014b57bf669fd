"""Derivatives of reduce, scan and hist by operators of any kind, of elements that vary with the position, do not, or do in part.

Where elements are the same everywhere, lines of the operator stand outside the loop that the fold is turned into (ad/folds.py): they were neither
active nor run backwards once. `again` reads such a line before or after the fold as well.
"""

from __future__ import annotations

import pytest

from tests.fuzz_ad.check import check

HEAD = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.record
class Pair:
    p: f64
    q: f64
@at.fn
"""

# operator, start, an element that varies, one that does not, one that does in part
OPERATORS = {
    "number": ("lambda a, b: a + sin(b) + 0.3 * a * sin(b)", "0.0", "x[i]", "s", "s if i < 2 else x[i]"),
    "vector": ("lambda a, b: [a[j] * b[j] + 0.1 * b[j] for j in range(m)]", "[1.0 for j in range(m)]", "[x[i] * v for v in y]", "y", "[s if j > 0 else x[i] for j in range(m)]"),
    "matrix": ("lambda a, b: a @ b", "[[1.0, 0.0], [0.0, 1.0]]", "[[x[i], s], [0.5, x[i]]]", "[[s, 0.5], [y[0], s * s]]", "[[x[i], s], [s, 0.3]]"),
    "pair": ("lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])", "(1.0, 0.0)", "(x[i], s * x[i])", "(s, y[0])", "(s, x[i])"),
    "record": ("lambda a, b: Pair(a.p + b.p + a.q * b.q, a.q + sin(b.q))", "Pair(0.0, 0.0)", "Pair(x[i], s * x[i])", "Pair(s, y[0])", "Pair(x[i], s)"),
    "inner": ("lambda a, b: a + reduce(lambda p, q: p + q + 0.2 * p * q, 0.0, [sin(b) for u in range(3)])", "0.0", "x[i]", "s", "s + 0.0 * x[i]"),
    "product": ("mul", "1.0", "x[i]", "s * s", "s if i < 2 else x[i]"),
    "largest": ("maximum", "-9.0", "x[i]", "s * s", "s if i < 2 else x[i]"),
}

FOLDS = {
    "reduce": "reduce({op}, {start}, [{element} for i in range(n)])",
    "scan": "scan({op}, {start}, [{element} for i in range(n)])",
    "exclusive": "scan({op}, {start}, [{element} for i in range(n)], exclusive=True)",
    "hist": "hist({op}, {start}, 3, [i % 3 for i in range(n)], [{element} for i in range(n)])",
}


def program(operator: str, fold: str) -> str:
    """All three kinds of elements, and what the operator computes of an element read beside them."""
    op, start, varies, same, part = OPERATORS[operator]
    folds = [FOLDS[fold].format(op=op, start=start, element=e) for e in (varies, same, part)]
    body = [f"    {name} = {text}" for name, text in zip("pqr", folds, strict=True)]
    return HEAD + "\n".join(["def f(x: f64[n], y: f64[m], s: f64):", "    before = sin(y[0]) * 2.0", *body, "    return p, q, r, sin(s) * 3.0 + before"]) + "\n"


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_fold(operator: str, fold: str) -> None:
    text = program(operator, fold)
    twice = list(OPERATORS).index(operator) % len(FOLDS) == list(FOLDS).index(fold)  # second derivatives of a few
    for seed, sizes in ((4, {"n": 4, "m": 2}), (9 if twice else 7, {"n": 1, "m": 1})):
        outcome = check(text, seed, sizes, ("loops3",))
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks and not outcome.refused, outcome.refused
