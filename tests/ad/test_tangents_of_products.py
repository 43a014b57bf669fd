"""Tangents of products of matrices are products of matrices: each of the two terms by itself."""

from __future__ import annotations

import re

import numpy as np

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def chain(a: f64[n, k], b: f64[k, m], c: f64[m, n]) -> f64[n, n]:
    return tanh(a @ b) @ c


@at.fn
def along(a: f64[n, k], b: f64[k, m], c: f64[m, n], da: f64[n, k], db: f64[k, m], dc: f64[m, n]) -> (f64[n, n], f64[n, n]):
    return at.jvp2(chain, (a, b, c), (da, db, dc))


def test_both_terms_are_products() -> None:
    assert len(re.findall(r"\(status = at_(?:rt->product|product_f\d\d)\(", along.show("c"))) == 6  # two of the function, two for the tangent of each


def test_values() -> None:
    rng = np.random.default_rng(0)
    for sizes in ((1, 1, 1), (3, 0, 4), (5, 9, 17), (20, 33, 8)):
        shapes = [(sizes[0], sizes[2]), (sizes[2], sizes[1]), (sizes[1], sizes[0])]
        x, dx = ([rng.normal(size=s) for s in shapes] for _ in range(2))
        value, tangent = along(*x, *dx)
        inner = np.tanh(x[0] @ x[1])
        moved = (1 - inner**2) * (dx[0] @ x[1] + x[0] @ dx[1])
        np.testing.assert_allclose(value, inner @ x[2], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(tangent, moved @ x[2] + inner @ dx[2], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(tangent, along.interpret(*x, *dx)[1], rtol=1e-11, atol=1e-12)
