"""Indices that go round or stop at an edge: loops are cut there, values stay whatever the sizes and shifts."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops.execute import execute
from atoll.loops.show import show
from atoll.lower.make import compiled_loops
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(3)


@at.fn
def ring(x: f64[n]) -> f64[n]:
    return [x[(i + 1) % n] + x[(i - 1) % n] - 2.0 * x[i] for i in range(n)]


@at.fn
def turned(x: f64[n], s: i64) -> f64[n]:
    return [x[(i + s) % n] for i in range(n)]


@at.fn
def mirrored(x: f64[n], s: i64) -> f64[n]:
    return [x[(s - i) % n] for i in range(n)]


@at.fn
def torus(x: f64[n, m], shifts: i64[m]) -> f64[n, m]:
    return [[x[(i + 1) % n, (j - shifts[0]) % m] + x[i, (j + 1) % m] for j in range(m)] for i in range(n)]


@at.fn
def longer(x: f64[n], like: f64[m]) -> f64[m]:
    """The range is longer than a turn."""
    return [x[i % n] * f64(i // n) for i in range(m)]


@at.fn
def edges(x: f64[n]) -> f64[n]:
    return [x[max(i - 1, 0)] + x[min(i + 2, n - 1)] * x[min(i + 1, n - 1)] for i in range(n)]


@at.fn
def image(x: f64[n, m]) -> f64[n, m]:
    return [[x[max(i - 1, 0), max(j - 3, 0)] - x[min(i + 1, n - 1), min(j + 1, m - 1)] for j in range(m)] for i in range(n)]


@at.fn
def literal(x: f64[n]) -> f64[n]:
    return [x[i] * f64(i % 3) for i in range(n)]


STEPS = np.array([0, 1, -1, 0, 2])
WEIGHTS = np.array([0.5, 0.25, -0.25, 1.0, 0.125])


@at.fn
def stream(x: f64[5, n, m]) -> f64[n, m]:
    """Shifts from a constant array: written out, they are literals."""
    return [[sum(WEIGHTS[r] * x[r, (i - STEPS[r]) % n, (j + STEPS[r]) % m] for r in range(5)) for j in range(m)] for i in range(n)]


def rewritten(f, *args):
    from atoll.core.binding import bind_call
    from atoll.core.values import leaves
    from atoll.runtime.arguments import from_python

    given = from_python(f.core, f._arguments(args, {}))
    return execute(compiled_loops(f.core), [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given), 7)[0]


def check(f, *args):
    expected = f.interpret(*args)
    assert np.array_equal(rewritten(f, *args), expected)
    assert np.array_equal(f(*args), expected)


def test_it_happens():
    for f in (ring, turned, mirrored, torus, longer):
        assert "cut where indices go round" in f.explain("schedule")
    for f in (edges, image):
        assert "cut where indices stop at an edge" in f.explain("schedule")
    assert "cut where" not in literal.explain("schedule")
    inner = show(compiled_loops(ring.core)).split("else:")[0].split("for i in at__")[1]
    assert "//" not in inner and "mod" not in inner


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 40])
def test_values_stay(size):
    x = rng.random(size)
    check(ring, x)
    check(edges, x)
    check(literal, x)
    for s in (0, 1, -1, 5, size, -3 * size - 2, 2**40):
        check(turned, x, s)
        check(mirrored, x, s)
    for other in (0, 1, 5):
        y = rng.random((size, other))
        check(image, y)
        if other:
            check(torus, y, rng.integers(-9, 9, other))
        check(longer, x if size else np.ones(1), np.ones(3 * other))


def test_constant_shifts_are_literals():
    text = show(compiled_loops(stream.core))
    assert "are written out" in stream.explain("schedule") and "STEPS" not in text.split("else:")[0]
    for shape in ((5, 1, 1), (5, 2, 3), (5, 7, 9), (5, 0, 3)):
        check(stream, rng.random(shape))


def test_shifts_at_the_ends_of_the_integers():
    x = rng.random(10)
    for s in (2**63 - 1, 2**63 - 5, -(2**63), -(2**63) + 4):
        assert np.array_equal(turned(x, s), turned.interpret(x, s))
        assert np.array_equal(mirrored(x, s), mirrored.interpret(x, s))


def test_threads():
    x = rng.random(300_001)
    results = []
    try:
        for threads in (1, 2, 3):
            at.set_threads(threads)
            results.append((ring(x), edges(x), turned(x, 77_777)))
    finally:
        at.set_threads(2)
    assert all(np.array_equal(a, b) for r in results[1:] for a, b in zip(r, results[0], strict=True))
    assert np.array_equal(results[0][2], np.roll(x, -77_777))
    assert np.array_equal(results[0][0], np.roll(x, -1) + np.roll(x, 1) - 2.0 * x)
    agree(ring, x[:9])
