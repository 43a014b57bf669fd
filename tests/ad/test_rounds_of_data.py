"""Gradients of loops whose number of rounds is data, one for each element; what inner loops end with is kept, not computed again."""

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def waves(x: f64[n], rounds: i64[n], w: f64[m]) -> f64:
    def one(v, k):
        for i in range(k):
            v = sin(v * w[i])
        return v

    return sum(one(x[i], rounds[i]) for i in range(n))


@at.fn
def products(x: f64[n], rounds: i64[n], w: f64[m]) -> f64:
    """The value of the inner loop is a factor, so that the sweep back needs it."""
    total = 1.0
    for i in range(n):
        found = 0.0
        for k in range(rounds[i]):
            found += exp(-x[i] * w[k])
        total = total * (1.0 + found * x[i])
    return total


SHIFT = np.array([-1, 0, 2, 0])


@at.fn
def shifted(x: f64[n, 4]) -> f64:
    """A gather whose shift is a constant of its column."""
    y = [[x[i - SHIFT[q], q] ** 2 if 0 <= i - SHIFT[q] and i - SHIFT[q] < n else 3.0 * x[i, q] for q in range(4)] for i in range(n)]
    return sum(y[i, q] * (i + q) for i in range(n) for q in range(4))


def _along(f: Any, args: tuple[Any, ...], wrt: int, rng: np.random.Generator) -> None:
    gradient = at.grad(f, wrt=wrt)(*args)
    direction = rng.normal(size=args[wrt].shape)
    ahead, behind = list(args), list(args)
    ahead[wrt], behind[wrt] = args[wrt] + 1e-6 * direction, args[wrt] - 1e-6 * direction
    slope = (f(*ahead) - f(*behind)) / 2e-6
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-6)


def test_rounds_that_are_data():
    rng = np.random.default_rng(0)
    args = (rng.normal(size=5), np.array([1, 3, 0, 2, 4]), rng.normal(size=4))
    for f in (waves, products):
        _along(f, args, 0, rng)
        _along(f, args, 2, rng)
    nothing = (np.array([0.5]), np.array([0]), np.zeros(0))
    assert at.grad(waves)(*nothing) == [1.0] and at.grad(products)(*nothing) == [0.0]


def test_what_an_inner_loop_ends_with_is_kept():
    """Forwards once, and once where its slope is needed: not a third time for its value."""
    assert at.grad(products).show("ainf").count("= exp(") == 2


def test_shifts_by_constants_are_gathers():
    rng = np.random.default_rng(1)
    _along(shifted, (rng.normal(size=(6, 4)),), 0, rng)
    _along(shifted, (rng.normal(size=(1, 4)),), 0, rng)
    assert "scatter" not in at.grad(shifted).show("ainf")


def test_what_a_while_keeps_is_listed_and_has_no_number_before() -> None:
    """The tape of a loop whose rounds only running counts: residuals() lists what memory() lists, budgets are refused by name."""
    text = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\n"
    loops = ["    while s > tol:\n", "    for i in range(100):\n        if s < tol:\n            break\n"]
    for loop in loops:
        f = at.fn(source=text + f"def f(x: f64[n], tol: f64) -> f64:\n    s = 1.0\n{loop}        x = sin(x) * 0.5\n        s = sum(x * x)\n    return s\n")
        g = at.grad(f)
        kept = repr(g.residuals())
        assert "tape" in kept and "8*n*count" in kept and "keeps nothing" not in kept
        assert "not known before it runs" in repr(g.memory(n=10))
        with pytest.raises(at.CompileError, match="E1206.*decided only when it runs"):
            at.grad(f, memory="1MB")(np.ones(3), 1e-3)
        with pytest.raises(at.CompileError, match="E1206"):
            g.fits("1GB")
    f = at.fn(source=text + "def f(x: f64[n]) -> f64:\n    for i in range(100):\n        x = sin(x) * 0.5 if sum(x * x) > 0.1 else x\n    return sum(x)\n")
    assert at.grad(f, memory="1MB")(np.ones(3)).shape == (3,)


ROWS = ["x[j] * along(lambda e: y[e] * x[ix[e]], ix[j], n)", "min(along(lambda e: y[e] * a[k, ix[e]], 0, ix[j]) for k in range(n))", "along(lambda e: sin(y[e]) * a[j, ix[e]], j, n)"]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_second_derivatives(row: int) -> None:
    """What such loops keep has a length of its own for each of them; the sums over it in a loop of the sweep back have room for the longest."""
    from tests.fuzz_ad.check import check
    from tests.fuzz_ad.structures import ALONG, HEADER

    body = [*ALONG, "    ix = [abs(q) % n for q in i]", f"    return sum({ROWS[row]} for j in range(n)), sin(s)"]
    text = HEADER + "@at.fn\ndef f(x: f64[n], y: f64[n], a: f64[n, n], s: f64, i: i64[n]):\n" + "\n".join(body) + "\n"
    outcome = check(text, 3, {"n": 3, "m": 2, "k1": 2})  # a seed of those that ask for second derivatives
    assert outcome.checks and outcome.failure is None and not outcome.refused, outcome
