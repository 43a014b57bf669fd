"""Reductions and scans by associative operators followed forwards and backwards in pieces (ad/regrouped.py): against dual numbers, central differences and, for many
elements, each other. Starts are not neutral, elements vary with the position, do not, or do in part."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import atoll as at
from atoll.ad.api import _forward, _reverse
from tests.cost.ratio import ratios
from tests.fuzz.stages import leaves
from tests.fuzz_ad.check import _along, _back, _function, _like, check

HEAD = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.record
class Pair:
    p: f64
    q: f64
@at.fn
def f(x: f64[n], y: f64[m], s: f64):
    before = sin(s) * 2.0
    w = s * 0.5
"""
# operator, start, an element that varies, one that does not, one that does in part
OPERATORS = {
    "number": ("lambda a, b: a + b + 0.1 * a * b", "w", "sin(x[i])", "sin(s)", "s if i < 2 else x[i]"),
    "captured": ("lambda a, b: a + b + s * a * b", "0.3", "0.1 * x[i]", "0.1 * s", "0.1 * (s if i < 2 else x[i])"),
    "larger": ("lambda a, b: a if a > b else b", "-0.3", "x[i]", "s", "s if i < 2 else x[i]"),
    "left": ("lambda a, b: a", "w", "x[i]", "s", "s * x[i]"),
    "right": ("lambda a, b: b", "w", "x[i]", "s", "s * x[i]"),
    "pair": ("lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])", "(1.0, w)", "(0.9 * sin(x[i]), s * x[i])", "(0.9, s)", "(sin(s), x[i])"),
    "counted": ("lambda a, b: (a[0] + b[0], a[1] + b[1] + 0.1 * a[1] * b[1])", "(0, 0.1)", "(1, x[i])", "(1, s)", "(i, s)"),
    "record": ("lambda a, b: Pair(a.p + b.p + a.q * b.q, a.q + b.q)", "Pair(0.0, w)", "Pair(x[i], s * x[i])", "Pair(s, w)", "Pair(x[i], s)"),
    "vector": ("lambda a, b: [u + v + 0.1 * u * v for u, v in zip(a, b)]", "[w for j in range(m)]", "[0.1 * x[i] * v for v in y]", "y", "[s if j > 0 else x[i] for j in range(m)]"),
    "rows": ("lambda a, b: [[u * v for u, v in zip(p, q)] for p, q in zip(a, b)]", "[[w, v] for v in y]", "[[x[i], s] for v in y]", "[[s, v] for v in y]", "[[s if i < 2 else x[i], v] for v in y]"),
    "vectors": ("lambda a, b: ([u * v for u, v in zip(a[0], b[0])], [u * v + t for u, v, t in zip(a[1], b[0], b[1])])", "([1.0 for v in y], [w * v for v in y])", "([0.9 * sin(x[i] + v) for v in y], [s * x[i] for v in y])", "([s for v in y], y)", "(y, [x[i] for v in y])"),
    "chosen": ("lambda a, b: [u if u > v else v for u, v in zip(a, b)]", "[-0.3 for v in y]", "[x[i] * v for v in y]", "y", "[s if i < 2 else v for v in y]"),
    "crossed": ("lambda a, b: [u + v + 0.1 * sum(a) * v for u, v in zip(a, b)]", "[w for v in y]", "[0.1 * x[i] * v for v in y]", "y", "[s if j > 0 else x[i] for j in range(m)]"),
    "matrix": ("lambda a, b: a @ b", "[[1.0, w], [0.0, 1.0]]", "[[0.9, 0.1 * x[i]], [0.5 * s, 0.8]]", "[[s, 0.5], [w, s * s]]", "[[x[i], s], [s, 0.3]]"),
    "product": ("mul", "w", "x[i]", "s", "s if i < 2 else x[i]"),
    "least": ("minimum", "w", "x[i]", "s", "s if i < 2 else x[i]"),
}
FOLDS = {
    "reduce": "reduce({op}, {start}, [{element} for i in range(n)])",
    "scan": "scan({op}, {start}, [{element} for i in range(n)])",
    "exclusive": "scan({op}, {start}, [{element} for i in range(n)], exclusive=True)",
}
AS_LOOPS = {(op, fold) for op in ("record", "crossed", "matrix") for fold in ("scan", "exclusive")}
"""Where r would take a matrix for each element."""


def text(operator: str, fold: str, kinds: tuple[int, ...] = (0, 1, 2)) -> str:
    op, start, *elements = OPERATORS[operator]
    folds = [FOLDS[fold].format(op=op, start=start, element=elements[k]) for k in kinds]
    return HEAD + "".join(f"    {name} = {fold}\n" for name, fold in zip("pqr", folds, strict=False)) + f"    return {', '.join('pqr'[: len(kinds)])}, sin(s) * 3.0 + before\n"


EVERY = [(operator, fold) for operator in OPERATORS for fold in FOLDS if not (fold == "reduce" and operator in ("product", "least"))]
CASES = [case for k, case in enumerate(EVERY) if k % 5 in (0, 2, 4)]


@pytest.mark.parametrize(("operator", "fold"), CASES, ids=lambda x: x)
def test_right_at_small_sizes(operator: str, fold: str) -> None:
    """And nothing of the way back is a loop over the elements, but for those that stay loops."""
    turn = EVERY.index((operator, fold))
    program = text(operator, fold)
    for seed, n in ((3 if turn % 10 == 0 else 1, turn % 3), (5, 3)):  # the seed that 3 divides: second derivatives too
        outcome = check(program, seed, {"n": n, "m": 2}, ("loops3",))
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks and not outcome.refused, outcome.refused
    assert ("loop t" in _along(_function(program)).f.show("ainf")) == (operator in ("product", "least"))  # scans by names are loops in forward mode
    assert ("loop t" in _back(_function(program)).f.show("ainf")) == ((operator, fold) in AS_LOOPS)


@pytest.mark.parametrize(("operator", "fold"), [("captured", "reduce"), ("pair", "scan"), ("vectors", "scan")], ids=lambda x: x)
def test_right_for_many_elements(operator: str, fold: str) -> None:
    f = at.fn(source=text(operator, fold, (0,)))
    rng, n = random.Random(3), 2500
    x, dx = (np.array([rng.uniform(-0.1, 0.1) for _ in range(n)]) for _ in "xd")
    y, dy = np.array([0.3, -0.2]), np.array([0.5, 1.0])
    bar = _like(f(x, y, 0.3), rng)
    along = leaves(_forward(f, "jvp")(x, y, 0.3, dx, dy, 0.7))
    back = leaves(_reverse(f, "vjp")(x, y, 0.3, bar))
    left = sum(np.sum(a * b) for a, b in zip(along, leaves(bar), strict=True))
    right = sum(np.sum(a * b) for a, b in zip(back, (dx, dy, 0.7), strict=True))
    assert np.isclose(left, right, rtol=1e-9)


IN_ORDER = {
    "in a map": "def f(x: f64[n], y: f64[m]) -> f64:\n    return sum(reduce(lambda a, b: a + b + 0.1 * a * b, 0.0, [u * v for u in x]) for v in y)\n",
    "scans in a map": "def f(x: f64[n], y: f64[m]) -> f64:\n    return sum(sum(scan(lambda a, b: a + b + 0.1 * a * b, 0.0, [u * v for u in x])) for v in y)\n",
    "in a loop": "def f(x: f64[n], y: f64[m]) -> f64:\n    t = 0.1\n    for j in range(m):\n        t = reduce(lambda a, b: a + b + 0.1 * a * b, t * 0.5, [u * y[j] for u in x])\n    return t\n",
    "hist": "def f(x: f64[n], y: f64[m]) -> f64:\n    h = hist(lambda a, b: a + b + 0.1 * a * b, 0.0, m, [i * i % m for i in range(n)], x)\n    return sum(u * v for u, v in zip(h, y))\n",
    "hist of pairs": "def f(x: f64[n], y: f64[m]) -> f64:\n    h = hist(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (1.0, 0.0), m, [i * i % m for i in range(n)], [(0.9, v) for v in x])\n    return sum(h[j][1] * y[j] for j in range(m))\n",
    "matrices": "def f(x: f64[n], y: f64[m]) -> f64:\n    p = scan(lambda a, b: a @ b, [[1.0, 0.0], [0.0, 1.0]], [[[u, 0.1], [0.2, u]] for u in x])\n    return sum(sum(sum(q)) for q in p)\n",
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_stays_in_order_costs_the_same_few_times(name: str) -> None:
    """The promise of docs/derivatives.md where there is no rule in pieces: a bound that does not grow with the number of elements."""
    f = at.fn(source='import atoll as at\nfrom atoll import f64\nn, m = at.sizes("n m")\n@at.fn\n' + IN_ORDER[name])
    found = ratios(f, at.grad(f, wrt=(0, 1)), [(np.linspace(0.001, 0.01, n), np.linspace(0.5, 1.0, 4)) for n in (50, 500)])
    assert max(found.operations) <= 5.0 and found.growth <= 1.1, found


@pytest.mark.long
@pytest.mark.parametrize("fold", ["reduce(OP)", "sum(scan(OP))"])
def test_folds_in_loops_take_fewer_operations_in_order(fold: str) -> None:
    """The count of docs/derivatives.md: rounds in a loop, followed back in order, beside the same rounds written out, which are followed in pieces."""
    line = "t = " + fold.replace("OP", "lambda a, b: a + b + 0.1 * a * b, t * 0.5, [u * y[J] for u in x]") + "\n"
    head = 'import atoll as at\nfrom atoll import f64\nn, m = at.sizes("n m")\n@at.fn\ndef f(x: f64[n], y: f64[m]) -> f64:\n    t = 0.1\n'
    loop = head + "    for j in range(m):\n        " + line.replace("J", "j") + "    return t\n"
    rows = head + "".join("    " + line.replace("J", str(j)) for j in range(4)) + "    return t\n"
    given = [(np.linspace(0.001, 0.01, 4000), np.linspace(0.5, 1.0, 4))]
    in_order, in_pieces = (ratios(f, at.grad(f, wrt=(0, 1)), given).operations[0] for f in (at.fn(source=loop), at.fn(source=rows)))
    assert in_order < in_pieces < 1.3 * in_order, (in_order, in_pieces)


ROWS = {
    "by themselves": "def f(x: f64[m, n], s: f64) -> f64:\n    return sum(reduce(lambda a, b: a + b + 0.1 * a * b, 0.0, r) for r in x)\n",
    "with a number": "def f(x: f64[m, n], s: f64) -> f64:\n    return sum(reduce(lambda a, b: a + b + s * a * b, 0.0, r) for r in x)\n",
    "that loops read": "def f(x: f64[m, n], s: f64) -> f64:\n    def g(r):\n        t = s\n        for v in r:\n            t = t * s + v * s\n        return t\n    return sum(g(r) for r in x)\n",
    "in a loop": "def f(x: f64[m, n], s: f64) -> f64:\n    t = 0.1\n    for j in range(3):\n        if t > 0.0:\n            t = t * 0.5 + sum(reduce(lambda a, b: a + b + s * t * a * b, 0.0, r) for r in x)\n    return t\n",
    "of planes": "def f(x: f64[m, n], s: f64) -> f64:\n    y = [[[u, v] for u in x[0]] for v in x[1]]\n    return sum(sum(reduce(lambda a, b: a + b + s * a * b, s, r) for r in q) for q in y)\n",
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_followed_back_in_pieces(name: str) -> None:
    """Folds inside a map go in order, their rows do not, also where all of them read one number: each has a sum of its own for it."""
    f = at.fn(source=f"import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\n{ROWS[name]}")
    g = at.grad(f, wrt=(0, 1))
    for text in (f.show("rewritten"), g.show("rewritten")):
        assert re.search(r" of [mn]\b", text) and not re.search(r"^ *for in order \w+ in 0\.\.m:", text, re.M), text
    x, s, step = np.random.default_rng(1).normal(size=(4, 5)) * 0.3, 0.4, 1e-6
    gradient, slope = g(x, s)
    assert np.isclose(slope, (f.interpret(x, s + step) - f.interpret(x, s - step)) / (2 * step), rtol=1e-5)
    assert np.isclose(np.sum(gradient * x), (f.interpret(x * (1 + step), s) - f.interpret(x * (1 - step), s)) / (2 * step), rtol=1e-5)


if __name__ == "__main__":  # all of them
    for case in EVERY:
        test_right_at_small_sizes(*case)
        print(*case, flush=True)
