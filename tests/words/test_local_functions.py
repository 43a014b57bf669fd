"""Local functions over NumPy's words: what they are given is what Python gives them, whole arrays too. `def g(c): return np.sum(c * c)` was lifted over the elements of its argument."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import atoll as at
from atoll.elaborate.as_given import METHODS_OF_ARRAYS, OF_NUMBERS
from atoll.elaborate.numpy_names.table import METHODS
from atoll.elaborate.numpy_names.ufuncs import WORDS

from .test_swept import difference

BODIES = """np.sum(c * c)|1 - np.sum((c / 2) ** 2)|(c * c).sum()|(c - c.mean()).max()|c / c.sum()|c / np.sum(c)|np.exp(c) / np.sum(np.exp(c))|np.sqrt(np.mean(c ** 2))|np.max(np.abs(c))
    |np.array([c, 2 * c])|np.stack([c, -c])|np.median(c * 2)|np.argmax(c * c)|np.cumsum(c + 1)|np.where(c > np.mean(c), c, 0)|c.size + np.size(c * 2)|np.concatenate((c * 2, c))|np.sort(-c)|np.linalg.norm(c * 2)
    |np.exp(c) + 1|np.maximum(c, 0) * 2|np.clip(c, 0.1, 0.5) - c""".replace("\n    ", "").split("|")
CALLS = ("g(x)", "g(a)", "g(x[1:]) + g(x[:-1])", "g(a[0])", "np.array([g(row) for row in a])", "np.apply_along_axis(g, 1, a)", "g(np.zeros(3) + 1)", "g(x * y) * 2")
FORMS = ("def g(c):\n        return {}", "def g(c, k=2.0):\n        q = {}\n        return q * k", "g = lambda c: {}")


@pytest.mark.parametrize("call", CALLS)
def test_as_in_python(call: str) -> None:
    wrong, refused = [], 0
    for k, (body, form) in enumerate(product(BODIES, FORMS)):
        if k % 3 != len(call) % 3 and form != FORMS[0]:
            continue
        text = f"{form.format(body)} ; {call}"
        found = difference(text)
        refused += found == "refused"
        if found not in ("", "refused"):
            wrong.append(f"{text}: {found}")
    assert not wrong, "\n".join(wrong)
    assert refused <= 8, refused


TWO = """def mse(p, t):
        return np.mean((p - t) ** 2)
    def r2(p, t):
        return 1 - np.sum((t - p) ** 2) / np.sum((t - t.mean()) ** 2)
    def both(p, t):
        return mse(p, t) * r2(p, t)"""
SPLIT = """def gini(c, total):
        return 1.0 - np.sum((c / total) ** 2)
    best = -1.0
    left = np.zeros(3)
    for t in range(5):
        left[i[t] % 3] += 1
        if gini(left, t + 1) > best:
            best = gini(left, t + 1)"""
SIMPSON = """def integrate(f, lo, hi):
        t = np.linspace(lo, hi, 11)
        return np.sum(f(t)) * (hi - lo) / 10"""
SOFTMAX = """def softmax(z):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)"""


@pytest.mark.parametrize(
    "text",
    [f"{TWO} ; (mse(x, y), r2(x, y), both(x, y), mse(a, a * 2))", f"{SPLIT} ; best", f"{SIMPSON} ; integrate(lambda t: t * np.exp(t), 0.0, 1.0)", f"{SIMPSON} ; integrate(np.sin, 0.0, 2.0)",
     f"{SOFTMAX} ; (softmax(x), softmax(a))", "def g(c):\n        return c * 2 if c > 0 else 0.0 * c ; np.array([g(t) for t in x])"],
)  # fmt: skip
def test_programs(text: str) -> None:
    assert difference(text) == ""
    assert difference(text, compiled=True) == ""


def test_the_lists_are_the_tables() -> None:
    of_numbers = set("astype round clip conj conjugate copy item bit_length bit_count".split())
    assert set(METHODS) - of_numbers == METHODS_OF_ARRAYS
    assert {name for name in WORDS if "." not in name} - {"array_equal", "allclose", "array_equiv"} == OF_NUMBERS


IMPORTED = """
import numpy as xp
import atoll as at
from numpy import linalg as la, mean, sum as total
from numpy.linalg import norm
from atoll import f64
n = at.sizes("n")
@at.fn
def f(x: f64[n]):
    def a(z):
        e = xp.exp(z - xp.max(z))
        return e / xp.sum(e)
    def b(z):
        return z / total(z)
    def c(z):
        return z / la.norm(z)
    def d(z):
        return z - mean(z)
    def e(z):
        return z / norm(z)
    return a(x), b(x), c(x), d(x), e(x)
"""


def test_whatever_numpy_is_imported_as() -> None:
    x = np.arange(1.0, 4.0)
    e = np.exp(x - x.max())
    wanted = (e / e.sum(), x / x.sum(), x / np.linalg.norm(x), x - x.mean(), x / np.linalg.norm(x))
    for found, right in zip(at.fn(source=IMPORTED).interpret(x), wanted, strict=True):
        np.testing.assert_allclose(found, right)
