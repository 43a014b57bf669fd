"""Rows of a stencil go four at a time where they share what they read: it happens, values stay, other loops are left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops import profit
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from bench.kernels.stencils import blur
from tests.agreement import for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(16)
SAID = "at a time share what they read"


@at.fn
def slopes(u: f64[n + 2, m + 2]) -> (f64[n, m], f64[n, m]):
    """Two results, from two arrays of neighbours."""
    down = [[u[i + 2, j + 1] - u[i, j + 1] for j in range(m)] for i in range(n)]
    along = [[u[i, j] + u[i + 1, j] + u[i + 2, j] for j in range(m)] for i in range(n)]
    return down, along


@at.fn
def columns(k: i64[n + 3, m]) -> i64[n, m]:
    return [[max(max(k[i, j], k[i + 1, j]), max(k[i + 2, j], k[i + 3, j])) for j in range(m)] for i in range(n)]


@at.fn
def backwards(u: f32[n + 2, m]) -> f32[n, m]:
    return [[u[n + 1 - i, m - 1 - j] * 0.25 + u[n - i, m - 1 - j] * 0.5 + u[n - 1 - i, m - 1 - j] * 0.25 for j in range(m)] for i in range(n)]


@at.fn
def row_added(x: f64[n, m], y: f64[m]) -> f64[n, m]:
    return [[x[i, j] + y[j] for j in range(m)] for i in range(n)]


@at.fn
def with_a_function(u: f64[n + 2, m]) -> f64[n, m]:
    return [[exp(u[i, j] + u[i + 1, j] + u[i + 2, j]) for j in range(m)] for i in range(n)]


@pytest.mark.parametrize("f", [blur, slopes, columns, backwards])
def test_it_happens(f):
    assert f"4 rounds of i {SAID}" in f.explain("schedule")


def test_left_alone():
    assert SAID not in row_added.explain("schedule") + with_a_function.explain("schedule")


@pytest.mark.parametrize("columns_", [0, 1, 5, 300, 1030])  # rows of f32 are long from 1024 elements on
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 11, 130])
def test_values(rows, columns_):
    u = rng.standard_normal((rows + 2, columns_ + 2))
    u[-1, -1] = np.nan
    down, along = for_all_threads(slopes, u)
    assert np.array_equal(down, u[2:, 1:-1] - u[:-2, 1:-1])
    np.testing.assert_allclose(along, u[:-2, :-2] + u[1:-1, :-2] + u[2:, :-2], rtol=1e-12, atol=1e-12)
    k = rng.integers(-99, 99, (rows + 3, columns_))
    assert np.array_equal(for_all_threads(columns, k), np.max([k[a : a + rows] for a in range(4)], axis=0))
    v = rng.standard_normal((rows + 2, columns_)).astype(np.float32)
    np.testing.assert_allclose(for_all_threads(backwards, v), backwards.interpret(v), rtol=1e-6, atol=1e-6)


def test_short_rows_go_one_after_the_other():
    """How long they are is asked when the program runs, unless it is known."""
    body = "[[u[i, j] + u[i + 1, j] + u[i + 2, j] for j in range(M)] for i in range(n)]"
    head = "import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(u: f64[n + 2, M]) -> f64[n, M]:\n    return "
    short, long, open_ = (at.fn(source=(head + body).replace("M", m)) for m in ("511", "512", "m"))
    assert SAID not in short.explain("schedule") and "i_by_4" in long.show("rewritten") and "if m" not in long.show("rewritten")
    assert "if m - 512 >= 0:" in open_.show("rewritten") and open_.show("rewritten").count("i_by_4 in") == 1


@pytest.mark.parametrize(("rows", "columns_"), [(0, 4), (1, 1), (3, 7), (9, 2)])
def test_every_access_is_in_range(rows, columns_, monkeypatch):
    monkeypatch.setattr(profit, "OVERLAP_ROW", 16)
    k = rng.integers(-99, 99, (rows + 3, columns_))
    fn = compiled_loops(columns.core)
    for piece in (1, 4, 6, 1000):
        (found,) = execute(fn, [k], dict(zip(fn.sizes, (rows, columns_), strict=True)), piece)
        assert np.array_equal(found, columns.interpret(k))
