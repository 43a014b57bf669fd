"""Sums of products under conditions on their indices reach the matrix kernel, and their values stay."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.command_data import random_arguments
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import f64\nn, m, k = at.sizes('n m k')\n@at.fn\ndef f(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return "

# conditions that leave out a few elements of the target: those are computed, and not used
EPILOGUES = {
    "diagonal": "[[1.0 if i == j else sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
    "off the diagonal": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i != j else a[i, 0] if k > 0 else 0.0 for j in range(m)] for i in range(n)]",
    "beside the diagonal": "[[0.5 if i == j + 1 else sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
    "first row": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i > 0 else 7.0 for j in range(m)] for i in range(n)]",
    "last columns": "[[sum(a[i, p] * b[p, j] for p in range(k)) if j < m - 2 else 7.0 for j in range(m)] for i in range(n)]",
    "edge": "[[sum(a[i, p] * b[p, j] for p in range(k)) if 0 < i and i < n - 1 and 0 < j else 7.0 for j in range(m)] for i in range(n)]",
}

# conditions that leave out so much that computing it would cost more than the text says, or what does not exist
OTHERS = {
    "only the diagonal": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i == j else 0.0 for j in range(m)] for i in range(n)]",
    "band": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i - j < 2 and j - i < 2 else 0.0 for j in range(m)] for i in range(n)]",
    "last half": "[[sum(a[i, p] * b[p, j] for p in range(k)) if 2 * i >= n else 0.0 for j in range(m)] for i in range(n)]",
    "row before": "[[sum(a[i - 1, p] * b[p, j] for p in range(k)) if i > 0 else 0.0 for j in range(m)] for i in range(n)]",
}


def points() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [(rng.standard_normal((n, k)), rng.standard_normal((k, m))) for n, k, m in ((5, 6, 7), (1, 3, 1), (4, 0, 3), (0, 2, 3), (13, 17, 12))]


@pytest.mark.parametrize("name", [*EPILOGUES, *OTHERS])
def test_values(name: str) -> None:
    f = at.fn(source=HEAD + {**EPILOGUES, **OTHERS}[name] + "\n")
    for args in points():
        agree(f, *args, compiled=name == "diagonal")


@pytest.mark.parametrize("name", EPILOGUES)
def test_happens(name: str) -> None:
    assert "product of" in at.fn(source=HEAD + EPILOGUES[name] + "\n").show("loops")


@pytest.mark.parametrize("name", OTHERS)
def test_costs_no_more_than_the_text(name: str) -> None:
    f = at.fn(source=HEAD + OTHERS[name] + "\n")
    assert name == "row before" or "product of" not in f.show("loops")
    assert f.cost(n=64, k=64, m=64).operations <= {"only the diagonal": 3, "band": 12, "last half": 80, "row before": 140}[name] * 64 * 64  # type: ignore[operator]


# -- half of a square: products of a few rows, with the columns these need

TRIANGLES = ("j <= i", "j < i", "j >= i", "j > i + 2", "j < i + 3", "j >= i - 2")


@pytest.mark.parametrize("cond", TRIANGLES)
def test_triangles(cond: str) -> None:
    text = f"import atoll as at\nfrom atoll import f64\nn, k = at.sizes('n k')\n@at.fn\ndef f(a: f64[n, k], b: f64[k, n], c: f64[n, n]) -> f64[n, n]:\n    return [[c[i, j] + 2.0 * sum(a[i, p] * b[p, j] for p in range(k)) if {cond} else c[i, j] for j in range(n)] for i in range(n)]\n"
    f = at.fn(source=text)
    assert "product of" in f.show("loops")
    rng = np.random.default_rng(4)
    for n, k in ((5, 6), (1, 2), (0, 3), (3, 0), (50, 2)):
        agree(f, rng.standard_normal((n, k)), rng.standard_normal((k, n)), rng.standard_normal((n, n)), compiled=n == 50 and cond == "j <= i")
    assert f.cost(n=480, k=100).operations < 0.62 * 2 * 480 * 480 * 100  # type: ignore[operator]


# -- conditions that are about one factor: it is masked

MASKS = {
    "strict triangle": "def f(a: f64[n, n], b: f64[n, m]) -> f64[n, m]:\n    return [[sum(a[p, i] * b[p, j] for p in range(n) if p > i) for j in range(m)] for i in range(n)]\n",
    "triangle of the other": "def f(a: f64[n, n], b: f64[n, n]) -> f64[n, n]:\n    return [[b[i, j] + 2.0 * sum(a[i, p] * b[p, j] for p in range(n) if p <= j) for j in range(n)] for i in range(n)]\n",
    "off a diagonal": "def f(a: f64[n, n], b: f64[n, m]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] for p in range(n) if p != i) for j in range(m)] for i in range(n)]\n",
    "data": "def f(a: f64[n, k], c: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] if c[i, p] > 0.0 else 0.0 for p in range(k)) for j in range(m)] for i in range(n)]\n",
    "of a formula": "def f(a: f64[n, k], c: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return [[sum((a[i, p] + c[i, p]) * b[p, j] for p in range(k) if c[i, p] > 0.0) for j in range(m)] for i in range(n)]\n",
    "in a loop": "def f(a: f64[n, n], b: f64[n, m]) -> f64[n, m]:\n    for t in range(3):\n        b = [[0.1 * sum(a[i, p] * b[p, j] for p in range(n) if p <= i) for j in range(m)] for i in range(n)]\n    return b\n",
    "of a loop's array": "def f(a: f64[n, k], c: f64[n, k], b: f64[k, k]) -> f64[n, k]:\n    for t in range(2):\n        a = [[sum(a[i, p] * b[p, j] if c[i, p] > 0.0 else 0.0 for p in range(k)) for j in range(k)] for i in range(n)]\n    return a\n",
    "windows of a loop's array": "def f(x: f64[n, k], w: f64[3, k, k]) -> f64[n, k]:\n    for t in range(2):\n        x = [[sum(x[i + u, p] * w[u, p, j] if i + u < n else 0.0 for u in range(3) for p in range(k)) for j in range(k)] for i in range(n)]\n    return x\n",
    "padded": "def f(x: f64[n, m, k], w: f64[3, 3, k, q]) -> f64[n, m, q]:\n    return [[[sum(x[i + u - 1, j + v - 1, p] * w[u, v, p, o] for u in range(3) for v in range(3) for p in range(k) if i + u >= 1 and i + u <= n and j + v >= 1 and j + v <= m) for o in range(q)] for j in range(m)] for i in range(n)]\n",
    "stride and dilation": "def f(x: f64[2 * n, m, k], w: f64[3, 2, k, q]) -> f64[n, m, q]:\n    return [[[sum(x[2 * i + 2 * u - 2, j + v, p] * w[u, v, p, o] for u in range(3) for v in range(2) for p in range(k) if 2 * i + 2 * u >= 2 and 2 * i + 2 * u - 2 < 2 * n and j + v < m) for o in range(q)] for j in range(m)] for i in range(n)]\n",
    "ones": "def f(c: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return [[sum(b[p, j] if c[i, p] > 0.0 else 0.0 for p in range(k)) for j in range(m)] for i in range(n)]\n",
    "of both": "def f(a: f64[n, k], b: f64[k, m], c: f64[n, k], d: f64[k, m]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] if c[i, p] > 0.0 and d[p, j] > 0.0 else 0.0 for p in range(k)) for j in range(m)] for i in range(n)]\n",
    "sums inside": "def f(a: f64[q, n, k], b: f64[q, k, m]) -> f64[n, m]:\n    return [[sum(sum(a[t, i, p] * b[t, p, j] for t in range(q)) if p != i else 0.0 for p in range(k)) for j in range(m)] for i in range(n)]\n",
    "but for an edge": "def f(a: f64[n, k], b: f64[k, m], c: f64[n, k]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] if c[i, p] > 0.0 else 0.0 for p in range(k)) if 2 * i + j >= 1 else 7.0 for j in range(m)] for i in range(n)]\n",
    "windows": "def f(x: f64[k, n, m], y: f64[q, n, m]) -> f64[q, k, 3, 3]:\n    return [[[[sum(y[o, i, j] * x[c, i + u - 1, j + v - 1] if 0 <= i + u - 1 < n and 0 <= j + v - 1 < m else 0.0 for i in range(n) for j in range(m)) for v in range(3)] for u in range(3)] for c in range(k)] for o in range(q)]\n",
    "windows of images": "def f(x: f64[2, k, n, m], y: f64[2, q, n, m], z: f64[2, q, n, m]) -> f64[q, k, 3, 3]:\n    return [[[[sum(y[t, o, i, j] * x[t, c, i + u - 1, j + v - 1] if z[t, o, i, j] > 0.0 and 0 <= i + u - 1 < n and 0 <= j + v - 1 < m else 0.0 for t in range(2) for i in range(n) for j in range(m)) for v in range(3)] for u in range(3)] for c in range(k)] for o in range(q)]\n",
}

BANDS = {
    "band": "def f(a: f64[n, n], b: f64[n, m]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] for p in range(n) if p >= i and p <= i + 1) for j in range(m)] for i in range(n)]\n",
    "far corner": "def f(a: f64[n, n], b: f64[n, m]) -> f64[n, m]:\n    return [[sum(a[i, p] * b[p, j] for p in range(n) if p > i + n - 3) for j in range(m)] for i in range(n)]\n",
    "both factors": "def f(a: f64[n, n], b: f64[n, n]) -> f64[n, n]:\n    return [[sum(a[i, p] * b[p, j] for p in range(n) if p > i and p > j) for j in range(n)] for i in range(n)]\n",
}
START = "import atoll as at\nfrom atoll import f64\nn, m, k, q = at.sizes('n m k q')\n@at.fn\n"


def function(name: str) -> at.Function:
    return at.fn(source=START + {**MASKS, **BANDS}[name])


@pytest.mark.parametrize("name", [*MASKS, *BANDS])
def test_masked_values(name: str) -> None:
    f = function(name)
    rng = np.random.default_rng(7)
    for sizes in ({"n": 3, "m": 4, "k": 2, "q": 8}, {"n": 1, "m": 1, "k": 1, "q": 1}, {"n": 0, "m": 2, "k": 3, "q": 2}, {"n": 3, "m": 2, "k": 0, "q": 8}):
        args = [rng.standard_normal(x.shape) for x in random_arguments(f, {s.name: sizes[s.name] for s in f.core.sizes})]
        agree(f, *args, compiled=False)
        for place in range(len(args)):  # what a condition leaves out is not multiplied with what is not finite
            for bad in (np.inf, np.nan):
                if args[place].size:
                    other = [x.copy() for x in args]
                    other[place].flat[rng.integers(args[place].size)] = bad
                    with np.errstate(all="ignore"):
                        agree(f, *other, compiled=False)


@pytest.mark.parametrize("name", ["strict triangle", "padded", "in a loop", "of both", "windows of images"])
def test_masked_compiled(name: str) -> None:
    f = function(name)
    rng, sizes = np.random.default_rng(8), {"n": 4, "m": 5, "k": 3, "q": 8}
    args = [rng.standard_normal(x.shape) for x in random_arguments(f, {s.name: sizes[s.name] for s in f.core.sizes})]
    agree(f, *args)
    args[1].flat[3] = np.nan
    with np.errstate(all="ignore"):
        agree(f, *args)


@pytest.mark.parametrize("name", MASKS)
def test_masked_happens(name: str) -> None:
    assert "product of" in function(name).show("loops")


@pytest.mark.parametrize("name", BANDS)
def test_bands_stay_as_they_are(name: str) -> None:
    assert "product of" not in function(name).show("loops")


def test_what_does_not_change_is_masked_once() -> None:
    """Before the loop over rounds, not in each."""
    text = function("in a loop").show("loops")
    assert text.index("if i - r >= 0 else 0.0") < text.index("for in order t in")


def test_padding_is_stored_once() -> None:
    """A line of the image with its padding, not nine times the image, and no copy of the result."""
    uses = {u.name: u for u in function("padded").memory()}
    assert not any(u.kind == "copy" for u in uses.values())
    sizes = {"n": 100, "m": 100, "k": 8, "q": 8}
    assert sum(u.bytes.evaluate(lambda a: sizes[repr(a)]) for u in uses.values() if u.kind == "temporary" and "next" not in u.name) < 2 * 8 * 102 * 102 * 8


def test_the_adjoint_of_relu_is_a_product() -> None:
    f = at.fn(source=START + "def f(x: f64[n, k], w: f64[k, m], v: f64[m, q]) -> f64:\n    y = maximum(x @ w, 0.0)\n    return sum(e * e for row in y @ v for e in row)\n")
    g = at.grad(f, wrt=(0, 1, 2))
    assert g.show("loops").count("product of") == 6
    rng = np.random.default_rng(9)
    agree(g, rng.standard_normal((5, 6)), rng.standard_normal((6, 7)), rng.standard_normal((7, 8)), compiled=False)
