"""Rewrites of loops: they happen where they should, and keep every bit."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.execute import execute
from atoll.loops.optimise import optimise
from atoll.loops.show import show
from atoll.lower.make import compiled_loops, make_loops
from tests.agreement import agree, same

n, m, k = at.sizes("n m k")
rng = np.random.default_rng(5)


@at.fn
def columns(A: f64[n, m]) -> f64[m]:
    return sum(A, axis=0)


@at.fn
def vecmat(x: f32[n], A: f32[n, m]) -> f32[m]:
    return x @ A


@at.fn
def pool(x: f32[2 * n, 2 * m]) -> f32[n, m]:
    return [[max(x[2 * i + a, 2 * j + b] for a in range(2) for b in range(2)) for j in range(m)] for i in range(n)]


@at.fn
def jacobi(u: f64[n, m], steps: i64) -> f64[n, m]:
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@at.fn
def edges(x: f64[n]) -> f64[n]:
    return [x[i - 1] + x[i + 1] if i >= 1 and i < n - 1 else -x[i] for i in range(n)]


@at.fn
def one_side(x: f64[n]) -> f64[n]:
    return [x[i] - x[i - 3] if i >= 3 else x[i] for i in range(n)]


@at.fn
def weighted(x: f64[n, m], w: f64[n]) -> f64[m]:
    return [sum(x[i, j] * exp(w[i]) for i in range(n)) for j in range(m)]


@at.fn
def recurrence(x: f64[n]) -> f64[n]:
    y = x
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y


@at.fn
def backwards(x: f64[n], c: f64[n]) -> f64[n]:
    for t in range(1, n):
        x[n - 1 - t] = x[n - 1 - t] - c[n - 1 - t] * x[n - t]
    return x


CASES = {
    "recurrence": (recurrence, lambda s: (rng.random(s),), "kept__"),
    "backwards": (backwards, lambda s: (rng.random(s), rng.random(s)), "kept__"),
    "columns": (columns, lambda s: (rng.random((3 * s, s)),), "by_8"),
    "vecmat": (vecmat, lambda s: (rng.random(2 * s, "f4"), rng.random((2 * s, s), "f4")), "by_8"),
    "weighted": (weighted, lambda s: (rng.random((2 * s, s)), rng.random(2 * s)), "by_8"),
    "pool": (pool, lambda s: (rng.random((2 * s, 2 * s), "f4"),), "s2__"),
    "jacobi": (jacobi, lambda s: (rng.random((s + 2, s + 3)), 3), "last__"),
    "edges": (edges, lambda s: (rng.random(s + 2),), "last__"),
    "one side": (one_side, lambda s: (rng.random(s),), "first__"),
}


def run(loops, f, args):
    from atoll.core.binding import bind_call
    from atoll.core.values import leaves
    from atoll.runtime.arguments import from_python

    given = from_python(f.core, f._arguments(args, {}))
    return execute(loops, [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given), 7)


@pytest.mark.parametrize("name", CASES)
def test_it_happens_and_keeps_every_bit(name):
    f, data, mark = CASES[name]
    loops = make_loops(f.core)
    assert mark not in show(loops)
    decisions = optimise(loops)
    assert decisions and mark in show(loops)
    assert mark in f.show("c")
    for size in (1, 2, 9):
        args = data(size)
        plain = run(make_loops(f.core), f, args)
        assert all(np.array_equal(a, b) for a, b in zip(run(compiled_loops(f.core), f, args), plain))
        agree(f, *args)


@pytest.mark.parametrize("name", CASES)
def test_threads(name):
    f, data, _ = CASES[name]
    args = data(40)
    results = []
    try:
        for threads in (1, 3):
            at.set_threads(threads)
            results.append(f(*args))
    finally:
        at.set_threads(2)
    assert np.array_equal(*results)
    same(results[0], f.interpret(*args))


@at.fn
def running(x: f64[n, m]) -> f64[m]:
    acc = zeros(m)
    for i in range(n):
        acc = [a * 0.5 + x[i, j] for j, a in enumerate(acc)]
    return acc


@at.fn
def data_guard(x: f64[n]) -> f64[n]:
    return [x[i] if x[i] > 0.5 else 0.0 for i in range(n)]


@at.fn
def guarded_recurrence(x: f64[n]) -> f64[n]:
    y = x
    for i in range(n):
        y[i] = (y[i - 1] if i >= 1 else 0.0) + x[i]
    return y


@at.fn
def two_stores(x: f64[n]) -> f64[n]:
    y = x
    for i in range(1, n):
        y[i] = y[i - 1] + x[i]
        y[n - 1 - i] = 2.0
    return y


def test_where_it_must_not_happen():
    for f in (running, data_guard, two_stores):  # the range of guarded_recurrence is cut where its guard changes, so what is left may be carried
        text = f.show("c")
        assert "by_8" not in text and "last__" not in text and "kept__" not in text
    for f in (guarded_recurrence, two_stores):
        agree(f, rng.random(6))
    x = rng.random((4, 5))
    agree(running, x)
    agree(data_guard, x[0])


def test_nan_and_signed_zero_in_extrema():
    @at.fn
    def both(x: f64[n]):
        return max(x), min(x)

    for values in ([1.0, np.nan, 2.0], [np.nan], [-0.0, 0.0], [np.inf, -np.inf], list(range(100)) + [np.nan] + [3.0] * 70):
        got = both(np.array(values, float))
        assert np.array_equal(got, (np.max(values), np.min(values)), equal_nan=True)


@at.fn
def best_places(x: f32[n], y: i64[n]):
    return argmax(x), argmin(x), argmax(y), argmin(y)


@at.fn
def best_of_rows(x: f64[n, m]) -> i64[n]:
    return [argmin(row) for row in x]


@pytest.mark.parametrize("size", [1, 5, 255, 256, 257, 1000])
def test_the_first_best(size):
    assert "start__" in best_places.show("c")
    x = rng.integers(0, 20, size).astype("f4")
    y = rng.integers(-3, 3, size)
    assert best_places(x, y) == (x.argmax(), x.argmin(), y.argmax(), y.argmin())
    if size > 300:
        x[[290, 700]] = np.nan
        assert best_places(x, y)[:2] == (290, 290)
        x[:] = -np.inf
        assert best_places(x, y)[:2] == (0, 0)
    agree(best_of_rows, rng.integers(0, 3, (3, size)).astype(float), compiled=size == 257)


@pytest.mark.parametrize("size", [4095, 4096, 4097, 8193, 12_300])
def test_the_first_best_of_several_blocks(size):
    assert "top__" in best_places.show("c")  # the data are read once
    y = rng.integers(-1000, 1000, size)
    x = y.astype("f4")
    assert best_places(x, y) == (x.argmax(), x.argmin(), y.argmax(), y.argmin())
    for first in (0, 4094, size - 1):
        x[:] = 1.0
        x[first:] = 2.0
        y[:] = 5
        assert best_places(x, y) == (first, 0, 0, 0)
        x[first] = np.nan
        x[size - 1] = np.nan
        assert best_places(x, y)[:2] == (first, first)
    x[:] = -np.inf
    assert best_places(x, y)[:2] == (0, 0)
    x[:] = np.inf
    assert best_places(x, y)[:2] == (0, 0)


@at.fn
def take(x: f64[n], places: i64[m]) -> f64[m]:
    return x[places]


@at.fn
def count(keys: i64[n]) -> i64[7]:
    return hist(add, 0, 7, keys, [1 for _ in range(n)])


@at.fn
def weigh(keys: i64[n], w: f64[n]) -> f64[50]:
    return hist(add, 0.0, 50, keys, w)


@at.fn
def highest(keys: i64[n], w: f32[n], start: f32[k]) -> f32[k]:
    return hist(maximum, -inf, k, keys, w)


@at.fn
def row_sums(keys: i64[n], rows: f64[n, m]) -> f64[9, m]:
    return hist(add, zeros(m), 9, keys, rows)


@at.fn
def mean_of_each(r: f64[n], w: f64[n]) -> (f64[5], f64[5]):
    at_ = [minimum(i64(v * 5.0), 4) for v in r]
    return hist(add, 0.0, 5, at_, w), hist(add, 0.0, 5, at_, [1.0 for v in r])


@pytest.mark.parametrize("size", [0, 1, 63, 64 * 5, 1024, 5000, 8 * 1024 + 3])
def test_histograms_of_the_same_rounds_are_made_together(size):
    """One loop, whose places are computed once, beside their checks."""
    from tests.agreement import fails

    shown = mean_of_each.show("rewritten")
    both = shown[shown.index("result0_own") :]
    assert "place__" in both and both.count("for in order r in 0..n") == 1
    r, w = rng.random(size), rng.random(size)
    total, many = agree(mean_of_each, r, w)
    places = np.minimum((r * 5).astype(int), 4)
    assert np.array_equal(many, np.bincount(places, minlength=5))
    np.testing.assert_allclose(total, np.bincount(places, w, 5), rtol=1e-12)
    if size > 1:
        r[size // 2] = -0.7
        fails(mean_of_each, r, w, code="E0708")


def test_checks_are_made_before_the_loop():
    from tests.agreement import fails

    assert "bad__" in take.show("c") and "bad__" in count.show("c")
    x = rng.random(10)
    agree(take, x, np.array([0, 9, 3, 3]))
    agree(take, x, np.zeros(0, np.int64))
    for wrong in ([0, 10], [-1, 3], [2, np.iinfo(np.int64).max], [np.iinfo(np.int64).min, 1]):
        fails(take, x, np.array(wrong), code="E0701")
    with pytest.raises(at.Error, match="12"):
        take(x, np.array([1, 12, 99]))


@pytest.mark.parametrize("size", [0, 1, 100, 5000, 100_000])
def test_private_histograms(size):
    assert "result_own" in count.show("c") and "result_own" in weigh.show("c")
    keys, w = rng.integers(0, 7, size), rng.random(size)
    rows = rng.random((size, 3))
    results = []
    try:
        for threads in (1, 2, 3):
            at.set_threads(threads)
            results.append((count(keys), weigh(keys * 7, w), row_sums(keys, rows)))
    finally:
        at.set_threads(2)
    for one in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(one, results[0]))
    assert np.array_equal(results[0][0], np.bincount(keys, minlength=7))
    np.testing.assert_allclose(results[0][1], np.bincount(keys * 7, w, 50), rtol=1e-12)
    expected = np.zeros((9, 3))
    np.add.at(expected, keys, rows)
    np.testing.assert_allclose(results[0][2], expected, rtol=1e-12)
    if size:
        top = highest(keys, w.astype("f4"), np.zeros(7, "f4"))
        assert all(top[b] == (w.astype("f4")[keys == b].max() if (keys == b).any() else -np.inf) for b in range(7))


def test_exact_histograms_are_not_split():
    @at.fn(reassociate=False)
    def exact(keys: i64[n], w: f64[n]) -> f64[5]:
        return hist(add, 0.0, 5, keys, w)

    assert "result_own" not in exact.show("c")


@at.fn
def mixed(x: f64[n], y: f64[n], shift: i64) -> f64[n]:
    def at_(o):
        return (o >> shift) << shift

    return [x[at_(i64(o))] * y[at_(i64(o))] + x[at_(i64(o))] for o in range(n)]


def test_a_check_is_made_once():
    from tests.agreement import fails

    plain = make_loops(mixed.core)
    before = show(plain).count("check")
    assert any("checks cannot fail and are not made" in said for said in optimise(plain))
    assert show(plain).count("check") < before
    x = rng.random(6)
    agree(mixed, x, x, 1)
    fails(mixed, x, x, -1, code="E0706")
