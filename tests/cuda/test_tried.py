"""Loops in order with checks inside, done by groups of threads: which are, that they give the same, and that what fails is told as the program would have met it."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.backends.cuda import group
from atoll.backends.cuda.generate import lowered
from tests.agreement import same
from tests.fuzz.stages import Stages

n, m = at.sizes("n m")


@at.fn
def butterflies(a: f64[n, m]) -> f64[n, m]:
    """Pairs of elements that are w apart, in groups of 2 w: rounds of both loops are apart, whatever w is."""

    def row(i):
        x = [a[i, j] for j in range(m)]
        for level in range(3):
            w = m >> (level + 1)
            for g in range(1 << level):
                for p in range(w):
                    u, v = x[2 * w * g + p], x[2 * w * g + p + w]
                    x[2 * w * g + p], x[2 * w * g + p + w] = u + v, u - v
        return x

    return [row(i) for i in range(n)]


@at.fn
def halves(a: f64[n, m], count: i64) -> f64[n, m]:
    """Rounds are apart if there are not too many of them: asked when it runs."""

    def row(i):
        x = [a[i, j] for j in range(m)]
        for _ in range(2):
            for p in range(count):
                x[p], x[p + m // 2] = x[p] + x[p + m // 2], x[p] - x[p + m // 2]
        return x

    return [row(i) for i in range(n)]


@at.fn
def looked_up(a: f64[n, m], places: i64[n, m]) -> f64[n, m]:
    """Elements that are read where the data says."""

    def row(i):
        x, y = zeros(m), zeros(m)
        for step in range(2):
            for p in range(m):
                y[p] = a[i, places[i, p]] + 0.5 * x[p]
            for p in range(m):
                x[p] = y[m - 1 - p] * (1.0 + step)
        return x

    return [row(i) for i in range(n)]


@pytest.fixture(params=["warps", "blocks"])
def lanes(request, monkeypatch):
    monkeypatch.setattr(group, "SHORT", 1)
    monkeypatch.setattr(group, "LONG", 0 if request.param == "blocks" else 1 << 40)
    monkeypatch.setattr(group, "FEW", -1)
    return request.param


def _cases(rng):
    a = rng.normal(size=(2, 8))
    yield butterflies, (a,)
    yield halves, (a, 4)
    yield halves, (a, 0)
    yield halves, (a[:, :7], 4)  # two rounds touch one element
    yield looked_up, (a, rng.integers(0, 8, (2, 8)))


def test_the_same_by_groups(lanes):
    cases = [*_cases(np.random.default_rng(1))]
    few = lanes == "blocks"  # a thousand threads each; `python -m tests.hunt --only groups` has many
    for f, args in cases[3:4] if few else cases:
        assert any(kernel.name.endswith(lanes) for kernel in lowered(f.core).kernels), f.name
        for backwards in (True,) if few else (False, True):
            same(tuple(Stages(f).run_kernels(args, backwards)), (f.interpret(*args),), f.name)


def test_the_first_that_fails_is_told(lanes):
    rng = np.random.default_rng(2)
    a, places = rng.normal(size=(3, 8)), rng.integers(0, 8, (3, 8))
    places[1, 5], places[1, 2], places[2, 0] = 99, 77, 55
    for run in (lambda: looked_up.interpret(a, places), lambda: Stages(looked_up).run_kernels((a, places))):
        with pytest.raises(at.Error, match="77"):
            run()
    if lanes == "warps":
        with pytest.raises(at.Error):
            Stages(halves).run_kernels((a, 5))


def test_on_the_cpu():
    """At a size where blocks do it; after a call that failed the next one is right."""
    rng = np.random.default_rng(3)
    a, places = rng.normal(size=(3, 600)), rng.integers(0, 600, (3, 600))
    there = looked_up.on("cuda-emulated")
    same((there(a, places),), (looked_up(a, places),), "looked_up")
    bad = places.copy()
    bad[2, 3], bad[1, 500], bad[1, 599] = -601, 1234, 4321
    with pytest.raises(at.Error, match="1234"):
        there(a, bad)
    same((there(a, places),), (looked_up(a, places),), "looked_up after a failure")
    same((butterflies.on("cuda-emulated")(a[:, :512]),), (butterflies(a[:, :512]),), "butterflies")
