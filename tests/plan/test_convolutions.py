"""Convolutions with padding, stride and dilation: what they are and their gradients with respect to the image are products of matrices, whatever the conditions on indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.loops import ir as lp
from atoll.lower.make import compiled_loops

TEXT = """import atoll as at
from atoll import f64
n, c, o, h, v = at.sizes("n c o h v")
@at.fn
def f(x: f64[n, c, {sides}], w: f64[o, c, 3, 3], t: f64[n, o, h, v]) -> f64:
    def pixel(b, k, i, j):
        return sum({element} * w[k, e, p, q] for e in range(c) for p in range(3) for q in range(3))
    y = [[[[pixel(b, k, i, j) for j in range(v)] for i in range(h)] for k in range(o)] for b in range(n)]
    return sum({after}, axis=None)
"""
PADDED = "(x[b, e, i + p - 1, j + q - 1] if 0 <= i + p - 1 < h and 0 <= j + q - 1 < v else 0.0)"
KINDS = {
    "valid": ("h + 2, v + 2", "x[b, e, i + p, j + q]"),
    "same": ("h, v", PADDED),
    "dilated": ("h + 4, v + 4", "x[b, e, i + 2 * p, j + 2 * q]"),
    "strided": ("2 * h + 1, 2 * v + 1", "x[b, e, 2 * i + p, 2 * j + q]"),
}
PRODUCTS = {"valid": 2, "same": 2, "dilated": 2, "strided": 1}
"""Of the function and its gradient by x together. With a stride, every place of the image belongs to other taps: its gradient is a sum."""


def products(f: Any) -> int:
    return sum(isinstance(s, lp.Product) for s in lp.walk(compiled_loops(f.core).body))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", ["tanh(y) * t", "maximum(y, 0.0) * t"])
def test_products(kind: str, after: str) -> None:
    sides, element = KINDS[kind]
    f = at.fn(source=TEXT.format(sides=sides, element=element, after=after))
    assert products(f) == 1
    assert products(at.grad(f, wrt=0)) == PRODUCTS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_values(kind: str) -> None:
    """By the image, the taps and what is multiplied: as central differences say, which are exact for what is a sum of products."""
    sides, element = KINDS[kind]
    f = at.fn(source=TEXT.format(sides=sides, element=element, after="maximum(y, -1.0) * t"))
    value, slopes = f.compile("0").call, at.grad(f, wrt=(0, 1, 2)).compile("0").call
    rng = np.random.default_rng(1)
    n, c, o, h, v = 2, 2, 3, 5, 4
    shape = {"valid": (h + 2, v + 2), "same": (h, v), "dilated": (h + 4, v + 4), "strided": (2 * h + 1, 2 * v + 1)}[kind]
    args = [rng.normal(size=(n, c, *shape)), rng.normal(size=(o, c, 3, 3)), rng.normal(size=(n, o, h, v))]
    for k, slope in enumerate(slopes(*args)):
        for place in [tuple(rng.integers(0, d) for d in args[k].shape) for _ in range(30)] + [(0,) * 4, tuple(d - 1 for d in args[k].shape)]:
            up, down = ([a.copy() for a in args] for _ in range(2))
            up[k][place] += 1e-6
            down[k][place] -= 1e-6
            np.testing.assert_allclose(slope[place], (value(*up) - value(*down)) / 2e-6, rtol=1e-5, atol=1e-7)
