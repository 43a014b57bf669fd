"""Small arrays in variables: it happens where all elements have numbers, values stay to the last bit, and the rest is left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops import ir as lp
from atoll.loops.execute import execute
from atoll.loops.recipes.elements import elements
from atoll.lower.make import compiled_loops
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64
from tests.agreement import for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(13)
SIZES = [0, 1, 7, 8, 9, 65, 700]


@at.fn
def lorenz(y: f64[n, 3], h: f64, steps: i64) -> f64[n, 3]:
    def rhs(s):
        return [10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 2.5 * s[2]]

    def run(s):
        for _ in range(steps):
            k = rhs(s)
            s = [a + h * c for a, c in zip(s, rhs([a + 0.5 * h * b for a, b in zip(s, k)]))]
        return s

    return [run(s) for s in y]


@at.fn
def turning(y: f32[n, 4], steps: i64) -> f32[n]:
    """A matrix by a vector in every step, then a sum of what is left."""

    def run(s):
        for _ in range(steps):
            t = [s[1] - s[0], s[2] * f32(0.5), s[3] + s[1], s[0]]
            s = [a + f32(0.125) * b for a, b in zip(s, t)]
        return sum(s)

    return [run(s) for s in y]


@at.fn
def fibonacci(y: i64[n], steps: i64) -> i64[n]:
    def run(first):
        s = [first, first + 1]
        for _ in range(steps):
            s = [s[1], s[0] + s[1]]
        return s[0]

    return [run(v) for v in y]


@at.fn
def one_system(s: f64[2], steps: i64) -> f64[2]:
    """Nothing runs side by side."""
    for _ in range(steps):
        s = [s[0] * 0.5 + s[1], s[1] - 0.25 * s[0]]
    return s


@at.fn
def by_data(y: i64[n], steps: i64) -> i64[n]:
    """An element is found by a number that is data."""

    def run(first):
        s = [first, first + 1, 7]
        for q in range(steps):
            s[(first + q) % 3] = s[0] + q
        return s[1]

    return [run(v) for v in y]


def lorenz_in_numpy(y, h, steps):
    def rhs(s):
        return np.stack(
            [10.0 * (s[:, 1] - s[:, 0]), s[:, 0] * (28.0 - s[:, 2]) - s[:, 1], s[:, 0] * s[:, 1] - 2.5 * s[:, 2]], 1
        )

    for _ in range(steps):
        y = y + h * rhs(y + 0.5 * h * rhs(y))
    return y


@pytest.mark.parametrize("f", [lorenz, turning, fibonacci])
def test_it_happens(f):
    said = f.explain("schedule")
    assert "its elements are variables" in said and "rounds of i side by side" in said
    assert not [s for s in lp.walk(compiled_loops(f.core).body) if isinstance(s, lp.Alloc) and not s.buffer.local]


def test_left_alone():
    assert [s for s in lp.walk(compiled_loops(by_data.core).body) if isinstance(s, lp.Alloc)]
    y = rng.integers(0, 9, 20)
    assert (for_all_threads(by_data, y, 7) == by_data.interpret(y, 7)).all()


@pytest.mark.parametrize("count", SIZES)
def test_values_stay(count):
    y = rng.random((count, 3))
    found = for_all_threads(lorenz, y, 0.01, 20)
    np.testing.assert_allclose(found, lorenz_in_numpy(y, 0.01, 20), rtol=1e-13)
    k = rng.integers(-9, 9, count)
    a, b = k, k + 1
    for _ in range(11):
        a, b = b, a + b
    assert (for_all_threads(fibonacci, k, 11) == a).all()
    s = rng.random((count, 4), dtype=np.float32)
    few = slice(0, min(count, 20))
    assert (for_all_threads(turning, s, 5)[few] == turning.interpret(s[few], 5)).all()


def test_steps_may_be_none_and_nothing_is_a_number():
    y = rng.random((10, 3))
    assert (lorenz(y, 0.1, 0) == y).all()
    y[4, 1] = np.nan
    found = for_all_threads(lorenz, y, 0.01, 4)
    assert (np.isnan(found).any(1) == (np.arange(10) == 4)).all()
    s = rng.random(2)
    assert (one_system(s, 9) == one_system.interpret(s, 9)).all()


@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_every_access_is_in_range(count):
    y = rng.random((count, 3))
    fn = compiled_loops(lorenz.core)
    for piece in (1, 9, 1000):
        (found,) = execute(fn, [y, 0.01, 4], dict(zip(fn.sizes, (count,), strict=True)), piece)
        np.testing.assert_allclose(found, lorenz_in_numpy(y, 0.01, 4), rtol=1e-13)


def made(body):
    """The loops of a function with one result of two elements, run before and after."""
    result = lp.Buffer("result", F64, (poly(2),), "out")

    def fn(stmts):
        return lp.Function("f", (), [], [lp.Output(result, 1)], stmts, [])

    (before,) = execute(fn(body(result)), [], {}, 1)
    rewritten = elements(body(result), [])
    (after,) = execute(fn(rewritten), [], {}, 1)
    return before, after, rewritten


def array(name):
    return lp.Buffer(name, F64, (poly(2),), "temp")


def number(x):
    return lp.Const(float(x), F64)


def at_place(b, k):
    return lp.Load(b, (poly(k),))


def test_both_sides_of_an_exchange_may_be_read():
    def body(result):
        a, b, q = array("a"), array("b"), Sym("q")
        start = [lp.Store(x, (poly(k),), number(10 * j + k)) for j, x in enumerate((a, b)) for k in range(2)]
        step = lp.Store(a, (poly(0),), lp.Call("add", (at_place(a, 0), at_place(b, 1)), F64))
        loop = lp.For(q, poly(0), poly(3), [step, lp.Swap(a, b)], False)
        return [
            lp.Alloc(a),
            lp.Alloc(b),
            *start,
            loop,
            *(lp.Store(result, (poly(k),), at_place((a, b)[k], k)) for k in range(2)),
            lp.Free(a),
            lp.Free(b),
        ]

    before, after, loops = made(body)
    assert (before == after).all() and not any(isinstance(s, (lp.Swap, lp.Alloc)) for s in lp.walk(loops))


def test_what_a_round_leaves_to_the_next_is_kept():
    """The array is read before it is written in every round but the first."""

    def body(result):
        a, q = array("a"), Sym("q")
        first = lp.If((lp.Test("eq", poly(q)),), [lp.Store(a, (poly(0),), number(1))])
        step = lp.Store(a, (poly(0),), lp.Call("mul", (at_place(a, 0), number(3)), F64))
        out = [lp.Store(result, (poly(k),), at_place(a, 0)) for k in range(2)]
        return [lp.Alloc(a), lp.For(q, poly(0), poly(4), [first, step, *out], False), lp.Free(a)]

    before, after, loops = made(body)
    assert (before == after).all() and after[0] == 81 and not any(isinstance(s, lp.Alloc) for s in lp.walk(loops))


def test_not_where_threads_write():
    def body(result):
        a, q = array("a"), Sym("q")
        low, high = Sym("low"), Sym("high")
        put = lp.If((lp.Test("eq", poly(q)),), [lp.Store(a, (poly(0),), number(1))])
        pieces = lp.Chunks(low, high, poly(4), poly(1), [lp.For(q, poly(low), poly(high), [put], True)])
        return [lp.Alloc(a), pieces, *(lp.Store(result, (poly(k),), at_place(a, 0)) for k in range(2)), lp.Free(a)]

    before, after, loops = made(body)
    assert (before == after).all() and any(isinstance(s, lp.Alloc) for s in lp.walk(loops))
