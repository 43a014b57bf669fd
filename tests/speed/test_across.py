"""Sums of neighbours side by side: it happens where neighbours are read, and the values stay."""

import numpy as np
import pytest

import atoll as at
from atoll import c128, f32, f64, i64
from atoll.core.binding import bind_call
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from atoll.runtime.arguments import from_python
from atoll.runtime.library import threads
from tests.agreement import agree, flat, same

n, m, k = at.sizes("n m k")
rng = np.random.default_rng(8)
SIZES = [(0, 3), (1, 1), (31, 4), (32, 2), (65, 3), (129, 1)]


@at.fn
def convolve(x: f32[n + k - 1], w: f32[k]) -> f32[n]:
    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]


@at.fn
def convolve64(x: f64[n + k - 1], w: f64[k]) -> f64[n]:
    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]


@at.fn
def whole(x: i64[n + k - 1], w: i64[k]) -> i64[n]:
    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]


@at.fn
def dilate(x: f64[n + k - 1], w: f64[k]) -> f64[n]:
    return [max((x[i + j] + w[j] for j in range(k)), default=0.0) for i in range(n)]


@at.fn
def centred(x: f64[n + k - 1], w: f64[k]) -> f64[n]:
    return [sqrt(1.0 + abs(sum((x[i + j] - exp(-0.01 * i)) * w[j] for j in range(k)))) * i for i in range(n)]


@at.fn
def moments(x: f64[n + k - 1], w: f64[k]) -> (f64[n], f64[n]):
    first = [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]
    second = [sum(x[i + j] * x[i + j] * w[j] for j in range(k)) for i in range(n)]
    return first, second


@at.fn
def chosen(x: f64[n + k - 1], w: f64[k]) -> f64[n]:
    return [sum(x[i + j] if w[j] > 0.5 else -w[j] for j in range(k)) for i in range(n)]


@at.fn(reassociate=False)
def in_order(x: f32[n + k - 1], w: f32[k]) -> f32[n]:
    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]


@at.fn
def apart(x: f64[n, k], w: f64[k]) -> f64[n]:
    return [sum(exp(x[i, j]) * w[j] for j in range(k)) for i in range(n)]


@at.fn
def filtered(x: f64[k + k, n + k], w: f64[k, k]) -> f64[n]:
    return [sum(sum(x[p + q, i + q] * w[p, q] for q in range(k)) for p in range(k)) for i in range(n)]


@at.fn
def triangle(x: f64[k, n], w: f64[k, k]) -> f64[n]:
    return [sum(w[p, p] + sum(x[q, i] * w[p, q] for q in range(k if p < 3 else 0)) for p in range(k)) for i in range(n)]


@at.fn
def numbers(x: c128[k + k, n + k], w: c128[k, k]) -> c128[n]:
    return [sum(sum(x[p + q, i + q] * w[p, q] for q in range(k)) for p in range(k)) for i in range(n)]


@at.fn
def away(a: f64[k, n], q: f64[k, 3]) -> (f64[k, n], f64[3, n]):
    r = zeros((3, n))
    for t in range(3):
        for j in range(n):
            s = sum(q[i, t] * a[i, j] for i in range(k))
            r[t, j] = s
            for i in range(k):
                a[i, j] = a[i, j] - q[i, t] * s
    return a, r


@at.fn(reassociate=False)
def nested_in_order(x: f32[k, n], w: f32[k, k]) -> f32[n]:
    return [sum(sum(x[q, i] * w[p, q] for q in range(k)) for p in range(k)) for i in range(n)]


NESTED = [filtered, triangle, numbers, away, nested_in_order]
FUNCTIONS = [convolve, convolve64, whole, dilate, centred, moments, chosen, in_order]


def data(f, size, length):
    dtype = {convolve: np.float32, in_order: np.float32, whole: np.int64}.get(f, np.float64)
    made = [rng.integers(-9, 9, count) if dtype is np.int64 else rng.random(count).astype(dtype) for count in (size + length - 1, length)]
    return tuple(made)


@pytest.mark.parametrize("f", [*FUNCTIONS, *NESTED], ids=lambda f: f.name)
def test_it_happens(f):
    assert "side by side" in f.explain("schedule")


def test_not_where_neighbours_are_far_apart():
    assert "side by side" not in apart.explain("schedule")


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_values_stay(f):
    for size, length in [*SIZES, (34, 260)] if f is convolve64 else SIZES:
        args = data(f, size, length)
        agree(f, *args)
        loops = compiled_loops(f.core)
        given = from_python(f.core, args)
        same(tuple(execute(loops, list(args), bind_call(f.core, given), 1000)), tuple(flat(f.interpret(*args))), "rewritten")


def nested_data(f, size, length):
    def made(*shape):
        real = rng.random(shape)
        return real + 1j * rng.random(shape) if f is numbers else real.astype(np.float32) if f is nested_in_order else real

    if f is away:
        return made(length, size), made(length, 3)
    return made(length + length, size + length) if f in (filtered, numbers) else made(length, size), made(length, length)


@pytest.mark.parametrize("f", NESTED, ids=lambda f: f.name)
@pytest.mark.parametrize("size, length", [(0, 3), (1, 1), (31, 4), (33, 0), (65, 3), (35, 258)])
def test_sums_in_sums_and_loops_beside_them(f, size, length):
    args = nested_data(f, size, length)
    if length < 200:
        agree(f, *args)
        loops = compiled_loops(f.core)
        same(tuple(execute(loops, list(args), bind_call(f.core, from_python(f.core, args)), 1000)), tuple(flat(f.interpret(*args))), "rewritten")
    elif f is triangle:
        x, w = args
        expected = np.trace(w) + sum(w[p] @ x for p in range(3))
        assert np.allclose(f(x, w), expected, rtol=1e-12)


def test_rewrites_of_nests_are_proved():
    for f in (filtered, numbers, away):
        assert "not proved: across" not in (said := str(f.certificate().check())) and "across" in said


def test_loops_are_as_long_in_every_lane():
    @at.fn
    def columns(x: f64[k, n], w: i64[n]) -> f64[n]:
        return [sum(x[q, i] for q in range(min(max(w[i], 0), k))) for i in range(n)]

    assert "side by side" not in columns.explain("schedule")


def test_lanes_of_complex_numbers_are_planes():
    text = numbers.show("c")
    assert "[2][4]" in text and "[0][lane]" in text and "[1][lane]" in text


def test_left_to_right_is_left_to_right():
    x, w = data(in_order, 130, 700)
    expected = np.zeros(130, np.float32)
    for j in range(700):
        expected += x[j : j + 130] * w[j]
    assert np.array_equal(in_order(x, w), expected)


def test_errors_do_not_grow_with_the_length():
    size, length = 64, 1 << 16
    x, w = np.full(size + length - 1, 0.1, np.float32), np.ones(length, np.float32)
    assert np.max(np.abs(convolve(x, w) / (np.float32(0.1) * length) - 1)) < 2e-5


def test_nan_and_infinity():
    x, w = data(dilate, 100, 5)
    x[50], x[20] = np.nan, np.inf
    assert np.array_equal(dilate(x, w), dilate.interpret(x, w), equal_nan=True)


def test_the_same_bits_for_any_number_of_threads():
    x, w = data(convolve, 100_003, 37)
    before = threads()
    try:
        found = []
        for count in (1, 2, 3):
            at.set_threads(count)
            found.append(convolve(x, w).tobytes())
    finally:
        at.set_threads(before)
    assert len(set(found)) == 1
