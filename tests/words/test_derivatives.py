"""Derivatives of NumPy's words in both modes against differences, where a rule is written by hand or goes through a library function."""

from __future__ import annotations

import os

import numpy as np
import pytest

import atoll as at

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n"
TEXTS = """np.linalg.solve(s, x).sum()|np.sum(np.linalg.inv(s) ** 2)|np.linalg.slogdet(s)[1]|np.sum(np.linalg.cholesky(s) ** 3)|np.sum(np.linalg.eigh(s)[1] ** 4 + np.linalg.eigvalsh(s))|np.sum(np.linalg.svd(s)[0] ** 4) + np.sum(np.linalg.svd(s)[1] ** 3)
    |np.sum(np.linalg.qr(s)[1] ** 2 * x)|np.median(s) + np.percentile(x, 30)|np.sum((x[:, None] - x[None, :]) ** 2 * s)|np.sum(s[s > 0.5] ** 2)|np.einsum("ij,jk,k->", s, s, x)|np.sum(np.convolve(x, x) ** 2)|np.sum(np.cumsum(s) ** 2)"""
STEP = 1e-6
LONG = os.environ.get("ATOLL_LONG") == "1"  # svd and eigh take seconds to differentiate: make fuzz-ad asks for them


@pytest.mark.parametrize("text", [" ".join(t.split()) for t in TEXTS.split("|") if LONG or "svd" not in t])
def test_both_modes(text: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.random((3, 3))
    s, x = a @ a.T + np.eye(3) + 0.01 * rng.random((3, 3)), rng.random(3)
    ds, dx = rng.normal(size=(3, 3)), rng.normal(size=3)
    f = at.fn(source=f"{HEAD}def f(s: f64[n, n], x: f64[n]) -> f64:\n    return {text}\n")
    g = at.fn(source=f"{HEAD}@at.fn\ndef f(s: f64[n, n], x: f64[n]) -> f64:\n    return {text}\n\ndef g(s: f64[n, n], x: f64[n], ds: f64[n, n], dx: f64[n]):\n    return at.grad(f, wrt=(0, 1))(s, x), at.jvp(f, (s, x), (ds, dx))\n")
    (gs, gx), tangent = g.interpret(s, x, ds, dx)
    difference = (f.interpret(s + STEP * ds, x + STEP * dx) - f.interpret(s - STEP * ds, x - STEP * dx)) / (2 * STEP)
    np.testing.assert_allclose(tangent, difference, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.sum(gs * ds) + np.sum(gx * dx), difference, rtol=1e-5, atol=1e-6)
