"""Sums of two products in every term are two products; they are where it is seen that both are, and values stay."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import f32, f64\nn, m, k = at.sizes('n m k')\n@at.fn\ndef f(a: T[n, k], b: T[k, m], c: T[n, k], d: T[k, m]) -> T[n, m]:\n    return "

APART = {
    "sum": "[[sum(a[i, p] * b[p, j] + c[i, p] * d[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
    "difference": "[[sum(a[i, p] * b[p, j] - d[p, j] * c[i, p] for p in range(k)) for j in range(m)] for i in range(n)]",
    "real part": "[[sum(a[i, p] * b[p, j] - c[i, p] * d[p, j] for p in range(k)) + sum(a[i, p] * d[p, j] + c[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
}
TOGETHER = {
    "one is no product": "[[sum(a[i, p] * b[p, j] + c[i, p] for p in range(k)) for j in range(m)] for i in range(n)]",
    "a row's own": "[[sum(a[i, p] * b[p, j] + a[i, p] * c[i, p] for p in range(k)) for j in range(m)] for i in range(n)]",
    "terms that are kept": "[[sum(a[i, p] * b[p, j] * (a[i, p] * b[p, j]) + c[i, p] * d[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
}
SIZES = [(0, 2, 3), (1, 1, 0), (1, 3, 1), (2, 2, 2), (3, 1, 5), (9, 7, 4)]


def function(name: str, dtype: str = "f64"):
    text = {**APART, **TOGETHER}[name]
    return at.fn(source=(HEAD + text + "\n").replace("T[", dtype + "["))


@pytest.mark.parametrize("name", ["sum", "difference", "real part"])
def test_it_happens(name: str) -> None:
    loops = function(name).show("loops")
    assert loops.count("product of") == (2 if name != "real part" else 4)


@pytest.mark.parametrize("name", TOGETHER)
def test_left_alone(name: str) -> None:
    assert "product of" not in function(name).show("loops")


@pytest.mark.parametrize(("name", "dtype"), [*((name, "f64") for name in (*APART, *TOGETHER)), ("sum", "f32")])
def test_values(name: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    f = function(name, dtype)
    kind = np.float64 if dtype == "f64" else np.float32
    for n, m, k in SIZES:
        args = [rng.standard_normal(shape).astype(kind) for shape in ((n, k), (k, m), (n, k), (k, m))]
        agree(f, *args, compiled=False)
        np.testing.assert_allclose(f(*args), f.interpret(*args), rtol=1e-12 if dtype == "f64" else 1e-4, atol=1e-12 if dtype == "f64" else 1e-4)


@pytest.mark.parametrize("name", ["sum", "difference"])
def test_around_blocks(name: str) -> None:
    rng = np.random.default_rng(7)
    f = function(name)
    for n, m, k in ((48, 17, 8), (49, 33, 9), (65, 50, 31), (1, 200, 3)):
        a, b, c, d = (rng.standard_normal(shape) for shape in ((n, k), (k, m), (n, k), (k, m)))
        np.testing.assert_allclose(f(a, b, c, d), a @ b + c @ d if name == "sum" else a @ b - c @ d, rtol=1e-11, atol=1e-11)


TRIANGLE = """
import atoll as at
from atoll import f64
n, k = at.sizes("n k")
@at.fn
def f(a: f64[n, k], b: f64[n, k], c: f64[n, n]) -> f64[n, n]:
    return [[c[i, j] + sum(a[j, p] * b[i, p] + b[j, p] * a[i, p] for p in range(k)) if j <= i else c[i, j] for j in range(n)] for i in range(n)]
"""


def test_half_of_a_square() -> None:
    """The update of rank 2k of BLAS."""
    f = at.fn(source=TRIANGLE)
    assert f.show("loops").count("product of") == 2
    rng = np.random.default_rng(6)
    for n, k in ((0, 0), (1, 0), (1, 1), (2, 3), (3, 2), (47, 5), (48, 9), (97, 12)):
        a, b, c = rng.standard_normal((n, k)), rng.standard_normal((n, k)), rng.standard_normal((n, n))
        np.testing.assert_allclose(f(a, b, c), c + np.tril(b @ a.T + a @ b.T), rtol=1e-11, atol=1e-11)


def test_not_where_the_order_of_additions_stays() -> None:
    f = at.fn(source=TRIANGLE.replace("@at.fn", "@at.fn(reassociate=False)"))
    assert "product of" not in f.show("loops")
