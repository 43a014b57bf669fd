"""Sorting: networks, digits and runs of equal digits give the one stable order, values keep their bits, for any number of threads."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree
from tests.export.driver import SANITIZE, run

n, m = at.sizes("n m")
rng = np.random.default_rng(5)
DTYPES = ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]
NUMPY = {"bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "f32": "f4", "f64": "f8"}
HEAD = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n"


def both(name):
    t = "at.bool_" if name == "bool" else f"at.{name}"
    return at.fn(source=HEAD + f"def both(x: {t}[n]): return sort(x), argsort(x)\n"), at.fn(source=HEAD + f"def one(x: {t}[n]): return sort(x)\n")


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def held(fs, x):
    """Sorted as NumPy's stable order says, bit for bit, with 1, 2 and 3 threads."""
    order = np.argsort(x, kind="stable")
    try:
        for threads in (1, 2, 3):
            at.set_threads(threads)
            values, places = fs[0](x)
            assert np.array_equal(places, order)
            assert np.array_equal(bits(values), bits(x[order])) and np.array_equal(bits(fs[1](x)), bits(x[order]))
    finally:
        at.set_threads(2)


def samples(dtype, size):
    t = np.dtype(NUMPY[dtype])
    if dtype == "bool":
        return [rng.random(size) < 0.5, np.ones(size, t)]
    if t.kind in "iu":
        low, high = np.iinfo(t).min, np.iinfo(t).max
        return [rng.integers(low, high, size, t, endpoint=True), rng.integers(0, 5, size).astype(t), np.full(size, 7, t), np.sort(rng.integers(0, 100, size).astype(t))[::-1].copy()]
    x = rng.standard_normal(size).astype(t)
    strange = rng.choice(np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-40, 1.5], t), size)
    if size > 3:
        bits(strange)[2] = bits(np.array([np.nan], t))[0] + 3  # another NaN: its bits stay its own
    return [x, strange, np.where(rng.random(size) < 0.3, strange, x), np.round(x * 4), x + t.type(1e6), np.zeros(size, t)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(dtype):
    fs = both(dtype)
    for size in (0, 1, 2, 16, 17, 33, 65, 300, 2049, 5000):
        for x in samples(dtype, size):
            held(fs, x)
    for x in samples(dtype, 70001)[:2]:
        held(fs, x)


@pytest.mark.parametrize("dtype", ["i32", "f32", "i64", "f64"])
def test_every_number_of_vectors(dtype):
    """From none to more than are sorted in registers, with and without a part of one."""
    fs = both(dtype)
    for size in range(150):
        for x in (samples(dtype, size)[0], samples(dtype, size)[1]):
            values, places = fs[0](x)
            order = np.argsort(x, kind="stable")
            assert np.array_equal(places, order) and np.array_equal(bits(values), bits(x[order])) and np.array_equal(bits(fs[1](x)), bits(x[order]))


@pytest.mark.parametrize("dtype", ["i64", "u64", "f64"])
def test_runs_of_equal_first_bits(dtype):
    """The first 32 bits that differ are sorted first: few others in long and short runs, one far away."""
    fs = both(dtype)
    t = np.dtype(NUMPY[dtype])
    for size in (100, 2100, 3000, 70001):
        far = np.array(1e300 if dtype == "f64" else 1 << 62, t)
        near = (rng.integers(0, 1 << 20, size)).astype(t) if dtype != "f64" else 1.0 + rng.integers(0, 1 << 20, size) * 2.0**-52
        held(fs, np.where(rng.random(size) < 0.01, far, near))
        held(fs, np.where(rng.random(size) < 0.5, near, near + (1 if dtype == "f64" else 1 << 40)))


@at.fn
def rows(x: f32[n, m]) -> f32[n, m]:
    return [sort(r) for r in x]


@at.fn
def order_of_columns(x: f64[n, m]) -> i64[m, n]:
    return argsort(x.T)


@at.fn
def by_key(x: f64[n]) -> f64[n]:
    return sort(x, key=lambda v: -abs(v))


@at.fn
def of_another(x: f64[n], y: f64[n]) -> f64[n]:
    return y[argsort(x)]


@at.fn
def scaled(x: f64[n, m]) -> f64[n]:
    return [sum(v * v for v in sort(r)) for r in x]


@at.fn
def in_a_loop(x: f64[n]) -> f64[n]:
    for _ in range(3):
        x = reverse(sort(x) * 0.5)
    return x


@at.fn
def both_needed(x: f64[n]):
    order = argsort(x)
    return [x[k] for k in order], [x[k] + k for k in order]


@at.fn
def median(x: f64[n, m]) -> f64[n]:
    assert m >= 1
    return [sort(r)[m // 2] for r in x]


def test_it_happens():
    assert "sorted itself" in rows.explain("schedule") and "sorted itself" in scaled.explain("schedule")
    assert "at_sort_f32(at, &x[" in rows.show("c") and "at_alloc(m" not in rows.show("c")
    for f in (of_another, by_key, both_needed):
        assert "sorted itself" not in f.explain("schedule")


@pytest.mark.parametrize("size", [0, 1, 5, 40])
def test_inside_programs(size):
    x = rng.standard_normal((size, 7))
    x[::3] = np.round(x[::3])
    agree(rows, x.astype("f4"))
    agree(order_of_columns, x)
    for v in (x.reshape(-1), x.reshape(-1)[::2].copy()):
        agree(by_key, v)
        agree(of_another, v, np.arange(v.size) * 1.0)
        agree(in_a_loop, v)
        agree(both_needed, v)
    agree(scaled, x)
    agree(median, x)


def test_rows_of_all_lengths():
    for width in (1, 3, 16, 31, 100, 700, 4096, 5000):
        x = rng.standard_normal((9, width)).astype("f4")
        assert np.array_equal(rows(x), np.sort(x, axis=1))


@pytest.mark.parametrize("dtype", ["bool", "i16", "f32", "u64", "f64"])
def test_exported_without_a_host(dtype, tmp_path):
    """Strict C99, no threads, sanitized: the same bits."""
    f, one = both(dtype)
    for k, size in enumerate((0, 20, 3000)):
        x = samples(dtype, size)[-1 if size == 20 else 1]
        status, _, (values, places) = run(f, (x,), tmp_path / str(k), *SANITIZE)
        order = np.argsort(x, kind="stable")
        assert status == 0 and np.array_equal(places, order) and np.array_equal(bits(values), bits(x[order]))
        status, _, (values,) = run(one, (x,), tmp_path / f"one{k}", *SANITIZE)
        assert status == 0 and np.array_equal(bits(values), bits(x[order]))


@pytest.mark.parametrize("inside", ["sort(row)[2] * row[0]", "row[argsort(row)[4]]"])
def test_a_sum_over_rows_that_are_sorted(inside):
    """A sum in whose rounds a sort may be stopped is no loop in lanes: C compilers refuse a jump out of one."""
    f = at.fn(source=HEAD + f"def total(x: f64[n, 5]): return sum({inside} for row in x)\n")
    for size in (0, 1, 37):
        x = rng.normal(size=(size, 5))
        expected = np.sort(x)[:, 2] * x[:, 0] if inside.startswith("sort") else np.max(x, axis=1, initial=-9)
        np.testing.assert_allclose(f(x), expected.sum(), rtol=1e-12)
