"""Filters without branches: they happen where everything stored can be read in every round, and keep what they kept."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree, for_all_threads
from tests.export.driver import SANITIZE, run
from tests.fuzz.stages import Stages

n, m = at.sizes("n m")
kept = at.some("kept")
rng = np.random.default_rng(9)


@at.fn
def large(x: f32[n]) -> f32[kept]:
    return filter(lambda v: v > 0.5, x)


@at.fn
def scaled(x: f64[n]) -> f64[kept]:
    return [2.0 * v + 1.0 for v in x if v > 0.0 and v < 0.9]


@at.fn
def places(x: f64[n]) -> i64[kept]:
    return [i for i in range(n) if x[i] > 0.5]


@at.fn
def looked_up(x: f64[n], at_: i64[m]) -> f64[kept]:
    return [x[k] for k in at_ if k >= 0 and k < n]


@at.fn
def every_other(x: f64[2 * n]) -> f64[kept]:
    return [x[2 * i + 1] for i in range(n) if x[2 * i] > 0.5]


@at.fn
def together(x: f32[n], y: i64[n]) -> (f32[kept], i64[kept]):
    return unzip([(a, b) for a, b in zip(x, y) if b % 3 == 0])


@at.fn
def middle(x: f64[n]) -> f64:
    above = [v for v in x if v > 0.25]
    return sum(v * (i + 1) for i, v in enumerate(above))


@at.fn
def per_row(x: f64[n, m]) -> f64[n]:
    return [sum(v * (i + 1) for i, v in enumerate(filter(lambda v: v > 0.5, r))) for r in x]


def test_it_happens():
    for f in (large, scaled, places, together, middle):
        assert "kept in blocks" in f.explain("schedule")
    assert "blocks" not in looked_up.explain("schedule")  # x[k] may only be read when k is an index


@pytest.mark.parametrize("size", [0, 1, 2, 33, 1000])
def test_values_stay(size):
    x = rng.random(size)
    x[::7] = np.nan
    agree(large, x.astype("f4"))
    for y in (x, np.zeros(size), np.ones(size)):
        agree(scaled, y)
        agree(places, y)
    agree(looked_up, x, rng.integers(-3, size + 3, 20))
    agree(every_other, x[: size // 2 * 2])
    agree(per_row, x[: size // 3 * 3].reshape(-1, 3))
    assert np.array_equal(large(x.astype("f4")), x.astype("f4")[x.astype("f4") > 0.5])


@pytest.mark.parametrize("size", [0, 1, 15, 2047, 2048, 2049, 6000, 70001])
def test_blocks_and_threads(size):
    x = rng.random(size)
    x[::7] = np.nan
    k = rng.integers(-100, 100, size)
    for y in (x, np.zeros(size), np.ones(size)):
        assert np.array_equal(for_all_threads(large, y.astype("f4")), y.astype("f4")[y.astype("f4") > 0.5], equal_nan=True)
        assert np.array_equal(for_all_threads(places, y), np.flatnonzero(y > 0.5))
        kept_ = y[y > 0.25]
        assert np.isclose(for_all_threads(middle, y), (kept_ * (np.arange(kept_.size) + 1)).sum(), equal_nan=True)
    a, b = for_all_threads(together, x.astype("f4"), k)
    assert np.array_equal(a, x.astype("f4")[k % 3 == 0], equal_nan=True) and np.array_equal(b, k[k % 3 == 0])


@pytest.mark.parametrize("dtype", ["bool_", "i8", "u16", "i32", "u64", "f32", "c64", "c128"])
def test_every_type(dtype):
    f = at.fn(source=f"import atoll as at\nfrom atoll import *\nn = at.sizes('n')\ndef f(x: at.{dtype}[n], k: at.i64[n]): return [x[i] for i in range(n) if k[i] > 3]\n")
    t = "?" if dtype == "bool_" else dtype[0] + str(int(dtype[1:]) // 8)
    for size in (0, 5, 3000):
        k = rng.integers(0, 8, size)
        x = rng.integers(0, 100, size).astype(t)
        assert np.array_equal(f(x, k), x[k > 3])
        agree(f, x[:40], k[:40])


def test_exported(tmp_path):
    x = rng.random(5000)
    for k, y in enumerate((x, x[:0])):
        status, _, (found,) = run(middle, (y,), tmp_path / str(k), *SANITIZE)
        assert status == 0 and np.isclose(found, middle(y))
    status, _, (found,) = run(middle, (x,), tmp_path / "vectors", "-O2", "-march=native")
    assert status == 0 and np.isclose(found, middle(x))


def test_what_is_stored_has_no_choice_of_its_own():
    """A choice by the same tests would make the C compiler branch (a stranger measured 14 ms instead of 1.7)."""
    head = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n"
    places = at.fn(source=head + "def places(x: f64[n]): return [i for i in range(n) if x[i] > 0]\n")
    between = at.fn(source=head + "def between(x: f64[n]): return [v for v in x if v > 0 and v < 1]\n")
    x = np.random.default_rng(0).standard_normal(1000)
    x[::7] = np.nan
    for f, wanted in ((places, np.flatnonzero(x > 0)), (between, x[(x > 0) & (x < 1)])):
        assert "? 1 : 0" not in f.show("c")
        assert (f(x) == wanted).all() and f(x[:0]).shape == (0,)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "i32", "u32", "u64", "f32", "f64", "bool_"])
def test_elements_of_every_width(dtype):
    text = f"import atoll as at\nn = at.sizes('n')\nkept = at.some('kept')\ndef f(x: at.{dtype}[n], p: at.f32[n]) -> at.{dtype}[kept]:\n    return [a for a, b in zip(x, p) if b > 0.5]\n"
    f = at.fn(source=text)
    for size in (0, 1, 63, 64, 65, 127, 2048 + 64, 5000):
        x = rng.integers(0, 100, size).astype(getattr(at, dtype).dtype.numpy)
        for p in (rng.random(size, dtype=np.float32), np.zeros(size, "f4"), np.ones(size, "f4"), (rng.random(size) > 0.98).astype("f4")):
            assert np.array_equal(for_all_threads(f, x, p), x[p > 0.5])


def test_what_exists_only_where_it_is_kept_is_read_only_there():
    """Elements that a loop makes for what is kept: their array has no values elsewhere, which the blocks of a filter read, and left out (hunt, stages 1100005002)."""
    text = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n], k: i64):\n    def g(v):\n        s = v\n        for q in range(k):\n            s = s + x[q % n]\n        return s\n    return [g(v) + 1 for v in x if v > 0]\n"
    f = at.fn(source=text)
    x = np.array([3.0, -1.0, 2.0, -5.0, 0.0, 4.0])
    assert f(x, 2).tolist() == [v + 3 for v in x if v > 0]
    assert "kept in blocks" in f.explain("schedule")
    assert Stages(f).runner("rewritten")((x, np.int64(2)))[0].tolist() == f(x, 2).tolist()
