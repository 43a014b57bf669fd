"""Flat indices taken apart by numbers known at run time: rounds in strips divide nothing, values and failures stay whatever the numbers are."""

import numpy as np
import pytest

import atoll as at
from atoll import c128, f64, i64
from atoll.loops import ir as lp
from atoll.loops.optimise import PASSES
from atoll.loops.questions import calls
from atoll.lower.make import compiled_loops
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(5)


@at.fn
def shuffled(x: f64[n], k: i64, q: i64) -> f64[n]:
    def element(p):
        block, rest = p // (k * q), p % (k * q)
        return x[block * (k * q) + (rest % q) * k + rest // q]

    return [element(p) for p in range(n)]


@at.fn
def stage(x: f64[n], c: f64[m, m], stride: i64) -> f64[n]:
    def element(p):
        block, rest = p // (stride * m), p % (stride * m)
        k, j = rest // stride, rest % stride
        return sum(c[k % m, r] * x[(block * m + r) * stride + j] for r in range(m))

    return [element(p) for p in range(n)]


@at.fn
def padded(x: f64[n], w: i64, s: i64) -> f64[n]:
    """0 in the first column and behind the last whole row."""

    def element(p):
        i, j = (p + s) // w, (p + s) % w
        return x[i * w + j - 1 - s] if j >= 1 and i >= 1 else 0.0

    return [element(p) for p in range(n)]


@at.fn
def places(x: f64[n], w: i64, h: i64) -> f64[n]:
    """The quotient of a quotient, and rounds in order."""
    y = [0.0 for p in range(n)]
    for p in range(n):
        row = p // w
        y[p] += x[(row // h * h + row % h) * w + p % w] * f64(row % h)
    return y


@at.fn
def turned(radix: i64, rounds: i64, x: c128[n]) -> c128[n]:
    third = n // radix
    before = 1
    for t in range(rounds):
        after = third // before

        def element(place):
            q, rest = place // third, place % third
            return sum(x[(rest // after * radix + r) * after + rest % after] * c128(q + r, 1) for r in range(radix))

        x = [element(place) for place in range(n)]
        before = before * radix
    return x


def fast_rounds(f):
    """What is computed in the rounds of the innermost strips, where the tests for them hold."""
    strips = [s for s in lp.walk(compiled_loops(f.core).body) if _is_strip(s)]
    inside = [s for s in strips if not any(map(_is_strip, lp.walk(s.body)))]
    assert inside
    return [c.op for s in inside for c in calls(s.body)]


def _is_strip(s):
    return isinstance(s, lp.For) and s.sym.name.endswith("_strip")


@pytest.mark.parametrize("f", [shuffled, stage, padded, places, turned], ids=lambda f: f.name)
def test_rounds_divide_nothing(f):
    assert "in strips in which" in f.explain("schedule")
    assert not {"floordiv", "mod"} & set(fast_rounds(f))


def same(f, *args):
    try:
        expected = f.interpret(*args)
    except at.Error as error:
        with pytest.raises(at.Error) as found:
            f(*args)
        assert found.value.code == error.code
        return
    assert np.allclose(f(*args), expected, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("size", [0, 1, 2, 11, 12, 24, 60])
def test_values_and_failures_stay(size):
    x = rng.random(size)
    for k in (-2, -1, 0, 1, 2, 3, 5, 2**30, 2**31, 2**40, -(2**63)):
        for q in (-3, 0, 1, 2, 4, 2**33, 2**62):
            same(shuffled, x, k, q)
            same(places, x, k, q)
            same(padded, x, k, q)
        same(stage, x, rng.random((3, 3)), k)
        for radix in (-1, 0, 1, 2, 3):
            same(turned, radix, 2, x.astype(complex))


@at.fn
def far(x: f64[n], k: i64, s: i64) -> f64[n]:
    return [x[((p + s) // k + (p + s) % k * k) % n] for p in range(n)]


def test_values_near_an_overflow():
    x = rng.random(10)
    for s in (2**63 - 1, 2**63 - 5, -(2**63), -(2**63) + 4, 2**31, -(2**31), 2**30):
        for k in (1, 3, 2**31, 2**62, -5):
            same(far, x, k, s)


def test_the_strips_are_validated():
    text = str(turned.certificate().check())
    assert "strips" in text.split("not proved")[0].split("not looked at")[0]


def test_threads():
    x = rng.random(300_000)
    results = []
    try:
        for threads in (1, 2, 3):
            at.set_threads(threads)
            results.append((shuffled(x, 40, 25), stage(x, np.eye(5), 600), places(x, 17, 9)))
    finally:
        at.set_threads(2)
    assert all(np.array_equal(a, b) for r in results[1:] for a, b in zip(r, results[0], strict=True))
    agree(shuffled, x[:24], 3, 4)


def test_the_pass_stands_before_checks_leave():
    order = [p.name for p in PASSES]
    assert order.index("strips") < order.index("hoist_checks") < order.index("interior")


@at.fn
def exchanged(x: i64[n], y: i64[n], w: f64[m]) -> (i64[n], i64):
    least = i64(0)
    if m > 1:
        s = [y[j % n] + j for j in range(4)]
        for j in range(3):
            s = [v + 1 for v in s]
            x[j % n] = s[0]
        x[0] = max(s)
        least = min(s)
    return x, least


@at.fn
def again(x: f64[n], y: f64[m], k: i64, q: i64) -> f64[n]:
    for s in range(q):

        def element(i):
            a, e = i // k, i % (q * q)
            return sum(x[a * k + e + j] * y[j] for j in range(m))

        x = [element(i) for i in range(n)]
    return x


def test_what_a_round_makes_is_not_asked_about_before_the_loop() -> None:
    """Tests for strips, and tests that stand for checks, were made outside of a loop on what its rounds declare (an internal error)."""
    y = np.array([4, -2])
    x, least = exchanged(np.array([3, 5]), y, np.ones(2))
    assert x.tolist() == [9, 6] and least == 2
    values = rng.standard_normal(5), np.ones(1)
    assert again(*values, 9, 2).tolist() == values[0][[0, 1, 2, 3, 0]].tolist()
    with pytest.raises(at.RunError):
        again(rng.standard_normal(6), np.ones(3), 2, 2)
