"""Loops that update parts of arrays: what is logged, what need not be, and ranges that change from round to round."""

from __future__ import annotations

import re

import numpy as np
import pytest

import atoll as at
from atoll.ad.api import _reverse
from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
RANGES = {
    "prefix": "def f(x: f64[n], c: f64[n]):\n    for i in range(n):\n        x[:i] = sin(x[:i]) * c[i]\n    return x",
    "suffix": "def f(x: f64[n], c: f64[n]):\n    for i in range(n):\n        x[i:] = x[i:] * x[i] * c[i]\n    return x",
    "matrix": "def f(a: f64[n, n], c: f64[n]):\n    for i in range(n - 1):\n        a[i, i + 1:] = a[i + 1, i + 1:] * c[i]\n        a[i + 1:, i] = a[i + 1:, i] * a[i, i]\n    return a",
    "elimination": "def f(a: f64[n, n]):\n    for k in range(n - 1):\n        for i in range(k + 1, n):\n            l = a[i, k] / (3.0 + a[k, k])\n            a[i, k] = l\n            a[i, k + 1:] = a[i, k + 1:] - l * a[k, k + 1:]\n    return a",
    "data": "def f(x: f64[n], i: i64[n]):\n    for q in i:\n        j = abs(q) % n\n        x[:j] = tanh(x[:j] * 0.5)\n    return x",
    "back substitution": "def f(a: f64[n, n], b: f64[n]):\n    x = zeros(n)\n    for r in range(n):\n        i = n - 1 - r\n        x[i] = (b[i] - sum(a[i, j] * x[j] for j in range(i + 1, n))) / (2.0 + a[i, i] * a[i, i])\n    return x",
}  # fmt: skip


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name: str) -> None:
    outcome = check(f"{HEAD}{RANGES[name]}\n", 3, {"n": 4, "m": 1})
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks


FINAL = {  # rounds that never overwrite what was read
    "one before": "for t in {}:\n        x[t + 1] = c[t] * x[t]",
    "squared": "for t in {}:\n        x[t + 1] = c[t] * x[t] * x[t]",
    "backwards": "for t in {}:\n        x[n - 2 - t] = c[t] * x[n - 1 - t] * x[n - 1 - t]",
    "all before": "for t in {}:\n        x[t] = c[t] * sum(sin(x[j]) * x[j] for j in range(t))",
    "rewritten later": "for t in {}:\n        x[t + 1:] = sin(x[t]) * c[t + 1:]",
    "what was put": "for t in {}:\n        x[t + 1] = c[t] * x[t]\n        s = s + x[t + 1] * x[t + 1]",
    "added to": "for t in {}:\n        x[t + 1] += c[t] * x[t] * x[t]",
    "passed on": "for t in {}:\n        x[t + 1] = c[t] - x[t]\n        x[t] = x[t] + c[t] * c[t]",
    "the old one is only added": "for t in {}:\n        s = s * c[t]\n        x[t] -= s * c[t]",
}  # fmt: skip
LOGGED = {  # rounds that do, or may
    "in place": "for t in {}:\n        x[t] = c[t] * x[t] * x[t]",
    "read before": "for t in {}:\n        x[t] = c[t] * x[t + 1] * x[t + 1]",
    "data": "for t in {}:\n        x[abs(i[t]) % n] = c[t] * x[t] * x[t]",
    "after adding": "for t in {}:\n        x[t + 1] += c[t] * x[t]\n        s = s + x[t + 1] * x[t + 1]",
    "some of the updates": "for t in {}:\n        x[t] = c[t] * x[t] * x[t + 1]\n        x[t + 1] += c[t]\n        s = s * c[t]",
    "the old one is a condition": "for t in {}:\n        if x[t] > 0.1:\n            x[t] -= c[t]\n        s = s * c[t]",
    "the old one is a factor elsewhere": "for t in {}:\n        s = s * x[t + 1]\n        x[t + 1] += c[t]",
    "the old one makes the new one that is read": "for t in {}:\n        x[t] = x[t] + c[t]\n        s = s * x[t]\n        x[t] = c[t]",
    "in place and followed": "for t in {}:\n        x[t] = c[t] * x[t] * x[t]\n        s = s * sin(s) + x[t]",
}  # fmt: skip
AT_ONCE = {"in place", "read before"}  # of those, the ones that are one update of all their places (tests/ad/test_at_once.py)
BODY = "def f(x: f64[n], c: f64[n], i: i64[n]):\n    s = 1.0\n    {}\n    return x, s\n"


@pytest.mark.long
@pytest.mark.parametrize("name", [*FINAL, *LOGGED])
@pytest.mark.parametrize("seed", [3, 4])
def test_logs(name: str, seed: int) -> None:
    text = HEAD + BODY.format({**FINAL, **LOGGED}[name].format("range(n - 1)"))
    outcome = check(text, seed, {"n": 5, "m": 1})
    assert outcome.failure is None, outcome.failure.detail
    assert outcome.checks
    shown = _reverse(at.fn(source=text), "vjp").show("ainf")
    assert bool(re.search(r"param \d+ old", shown)) == (name in LOGGED and name not in AT_ONCE)


@pytest.mark.parametrize("name", [*FINAL, *LOGGED])
def test_the_promise_is_checked(name: str) -> None:
    text = HEAD + BODY.format({**FINAL, **LOGGED}[name].format("at.loop(n - 1, no_false_deps=True)"))
    outcome = check(text, 4, {"n": 5, "m": 1})
    if name in FINAL:
        assert outcome.failure is None and outcome.checks
    else:
        assert outcome.failure is not None and outcome.failure.where == "E1013", outcome


def test_checks_are_made_once() -> None:
    """The reverse sweep replays rounds that have run: what they checked holds."""
    text = HEAD + "def f(x: f64[n], i: i64[n]) -> f64:\n    s = 1.0\n    for q in at.loop(n{}):\n        s = sin(s * x[i[q]])\n    return s\n"
    for option in ("", ", checkpoint=2"):
        g = at.grad(at.fn(source=text.format(option)))
        assert g.show("ainf").count("check") == 1, g.show("ainf")
        with pytest.raises(IndexError):
            g(np.array([0.5, 0.25]), np.array([0, 2]))
