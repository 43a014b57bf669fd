"""A place whose adjoint is cleared and gets something at once is put once (ad/running.py): counted, and held against differences for places that may be the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import atoll as at
from tests.cost.ratio import counts

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"
PLACES = ("i", "p[i]", "(3 * i) % n", "n - 1 - i")
OTHERS = ("i - 1", "i", "p[i]", "p[i - 1]", "n - 1 - i", "(i + 1) % n")
SHAPES = (
    "{q} = {a} * c[i] + sin({b})",
    "if c[i] > 0.0:\n            {q} = {a} * c[i] + {b}",
    "{q} = {b} * c[i]\n        {a2} = {q} * {b} + c[i]",
    "{q} = {q} * c[i] + 0.5 * {b} if c[i] > -0.5 else {b}",
    "for j in range(i % 3):\n            {q} = {q} * c[j] + {b}\n        {a2} = 0.5 * {q}",
    "t = 0.0\n        for j in range(i):\n            t += {b} * c[j]\n        {q} = {q} * t",
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", PLACES)
def test_slopes_of_places_that_may_be_the_same(shape: str, place: str) -> None:
    for a, b in itertools.islice(itertools.product(OTHERS, OTHERS), len(place) % 3, None, 5):
        text = shape.format(q=f"u[{place}]", a=f"u[{a}]", a2=f"u[{a}]", b=f"u[{b}]")
        f = at.fn(source=HEAD + f"def f(u: f64[n], c: f64[n], p: i64[n]) -> f64:\n    for i in range(1, n):\n        {text}\n    return sum(cos(v) for v in u)\n")
        g = at.grad(f, wrt=(0, 1))
        r = np.random.default_rng(len(text))
        args = (r.random(6), r.normal(size=6), r.integers(0, 6, 6))
        counts(g, args)  # every access is looked at
        away = [r.normal(size=6) for _ in range(2)]
        ends = [f(args[0] + h * away[0], args[1] + h * away[1], args[2]) for h in (1e-6, -1e-6)]
        along = sum(float(s @ d) for s, d in zip(g(*args), away, strict=True))
        assert abs((ends[0] - ends[1]) / 2e-6 - along) < 1e-5 * (1 + abs(along)), text


def test_a_sweep_puts_what_flows_to_its_place() -> None:
    """Three neighbours: one read, three products, two additions and a put for each element; there was an addition to zero and a put of zero."""
    f = at.fn(source=HEAD + "def f(u: f64[n], c: f64[n]) -> f64:\n    for t in range(n):\n        for i in range(1, n - 1):\n            u[i] = u[i] * c[i] + c[i - 1] * u[i - 1] + 0.5 * u[i + 1]\n    return sum(u)\n")
    few, many = (counts(at.grad(f, wrt=0), (np.ones(n), np.ones(n))) for n in (12, 22))
    rounds = 22 * 20 - 12 * 10
    assert (many.operations - few.operations) / rounds == 5 and (many.stores - few.stores) / rounds < 3.1
