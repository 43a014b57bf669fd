"""What does not change in a loop is computed before it, and sums over the same elements share a pass: operations and elements are counted (loops/count.py)."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.cost.ratio import counts

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k = at.sizes('n m k')\n@at.fn\n"

BEFORE = {  # the text, and operations that one more round may take for each element
    "one array": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    b = x * y + x / (1.0 + y * y)\n    p = x\n    for s in range(r):\n        p = [p[i] * 0.5 + b[i] for i in range(n)]\n    return p\n", 2),
    "at neighbours": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    b = x * y + x / (1.0 + y * y)\n    p = x\n    for s in range(r):\n        p = [p[i] * 0.5 + (b[i - 1] if i > 0 else 0.0) for i in range(n)]\n    return p\n", 2),
    "coming round": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    b = x * y + x / (1.0 + y * y)\n    p = x\n    for s in range(r):\n        p = [p[i] * 0.5 + b[(i + 1) % n] for i in range(n)]\n    return p\n", 2),
    "until it is small": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    b = x * y + x / (1.0 + y * y)\n    p, s = x, 0\n    while s < r:\n        p = [p[i] * 0.5 + b[i] for i in range(n)]\n        s += 1\n    return p\n", 2),
    "in a branch": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    b = x * y + x / (1.0 + y * y)\n    p = x\n    if r > 1:\n        for s in range(r):\n            p = [p[i] * 0.5 + b[i] for i in range(n)]\n    return p\n", 2),
    "in a loop inside": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    p = x\n    for t in range(2):\n        b = p * y + p / (1.0 + y * y)\n        for s in range(r):\n            p = [p[i] * 0.5 + b[i] for i in range(n)]\n    return p\n", 4),
    "for each row": ("def f(x: f64[n], y: f64[n], r: i64) -> f64[n]:\n    def run(i):\n        b, s = x[i] * y[i] + x[i] / (1.0 + y[i] * y[i]), 0.0\n        for t in range(r):\n            s = s * 0.5 + b\n        return s\n    return [run(i) for i in range(n)]\n", 2),
}


@pytest.mark.parametrize("name", BEFORE)
def test_a_round_does_what_changes(name: str) -> None:
    text, most = BEFORE[name]
    f = at.fn(source=HEAD + text)
    n, rng = 40, np.random.default_rng(0)
    x, y = rng.normal(size=n), rng.normal(size=n)
    few, many = (counts(f, (x, y, r)) for r in (2, 6))
    assert many.operations - few.operations <= 4 * (most * n + 8), name
    assert np.array_equal(f(x, y, 3), f.interpret(x, y, 3))


def test_a_look_up_computes_one_element() -> None:
    """Elements that a search asks for are few of many."""
    f = at.fn(source=HEAD + "def f(x: f64[n], v: f64) -> i64:\n    b = x * x * x + x / (1.0 + x * x)\n    lo, hi = 0, n\n    while lo < hi:\n        mid = (lo + hi) // 2\n        if b[mid] < v:\n            lo = mid + 1\n        else:\n            hi = mid\n    return lo\n")
    few, many = (counts(f, (np.linspace(0.0, 1.0, n), 0.7)) for n in (64, 1024))
    assert many.operations < 2 * few.operations


def test_what_a_loop_that_does_not_run_would_read_is_not_computed() -> None:
    f = at.fn(source=HEAD + "def f(x: f64[n], on: i64, r: i64) -> f64[n]:\n    b = x * x * x + x / (1.0 + x * x)\n    p = x\n    if on > 0:\n        for s in range(r):\n            p = [p[i] * 0.5 + b[i] for i in range(n)]\n    return p\n")
    off, on = (counts(f, (np.linspace(0.0, 1.0, 50), on, 1)) for on in (0, 1))
    assert off.operations < 10 < 300 < on.operations


SHARED = {
    "beside each other": "def f(a: f64[n], b: f64[n]) -> (f64, f64, f64):\n    return sum(a[i + 1] * b[i] for i in range(n - 1)), sum(a[i + 1] * a[i + 1] for i in range(n - 1)), sum(a[i + 1] for i in range(n - 1))\n",
    "slices": "def f(a: f64[n], b: f64[n]) -> (f64, f64, f64):\n    c, d = a[1:], b[1:]\n    return sum(c * d), sum(c * c), sum(c)\n",
    "whole": "def f(a: f64[n], b: f64[n]) -> (f64, f64, f64):\n    return sum(a * b), sum(a * a), sum(a)\n",
}


@pytest.mark.parametrize("name", SHARED)
def test_sums_over_the_same_elements_share_a_pass(name: str) -> None:
    f = at.fn(source=HEAD + SHARED[name])
    few, many = (counts(f, (np.ones(n), np.ones(n))) for n in (100, 200))
    assert many.rounds - few.rounds <= 150, name  # a round for each element, not one for each sum of it
