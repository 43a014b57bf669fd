"""Contractions are computed by the matrix kernel: it happens, the values are right, and they do not depend on threads."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from tests.agreement import agree, for_all_threads

n, m, k, b, c, d, l = at.sizes("n m k b c d l")
rng = np.random.default_rng(3)


@at.fn
def matmul(x: f32[n, k], y: f32[k, m]) -> f32[n, m]:
    return [[sum(x[i, p] * y[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def matmul64(x: f64[n, k], y: f64[k, m]) -> f64[n, m]:
    return x @ y


@at.fn
def left_transposed(x: f64[k, n], y: f64[k, m]) -> f64[n, m]:
    return x.T @ y


@at.fn
def right_transposed(x: f32[n, k], y: f32[m, k]) -> f32[n, m]:
    return x @ y.T


@at.fn
def result_transposed(x: f64[n, k], y: f64[k, m]) -> f64[m, n]:
    return [[sum(x[i, p] * y[p, j] for p in range(k)) for i in range(n)] for j in range(m)]


@at.fn
def gram(x: f64[n, k]) -> f64[n, n]:
    return x @ x.T


@at.fn
def batched(x: f32[b, n, k], y: f32[b, k, m]) -> f32[b, n, m]:
    return [p @ q for p, q in zip(x, y)]


@at.fn
def heads(x: f64[n, b, k], y: f64[m, b, k]) -> f64[b, n, m]:
    return [[[sum(x[i, h, p] * y[j, h, p] for p in range(k)) for j in range(m)] for i in range(n)] for h in range(b)]


@at.fn
def rows_of_two(x: f64[n, m, k], y: f64[k, l]) -> f64[n, m, l]:
    return [[[sum(x[i, j, p] * y[p, q] for p in range(k)) for q in range(l)] for j in range(m)] for i in range(n)]


@at.fn
def convolution(x: f32[c, n + k - 1, m + l - 1], w: f32[d, c, k, l]) -> f32[d, n, m]:
    return [[[sum(x[q, i + s, j + t] * w[o, q, s, t] for q in range(c) for s in range(k) for t in range(l)) for j in range(m)] for i in range(n)] for o in range(d)]


@at.fn
def layer(x: f64[n, k], w: f64[k, m], bias: f64[m]) -> f64[n, m]:
    return maximum(tanh(x) @ w + bias, 0.0)


@at.fn
def reversed_rows(x: f64[n, k], y: f64[k, m]) -> f64[n, m]:
    return [[sum(x[n - 1 - i, p] * y[k - 1 - p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def in_a_loop(x: f64[n, n], steps: at.i64) -> f64[n, n]:
    y = x
    for _ in range(steps):
        y = y @ x
    return y


@at.fn(reassociate=False)
def in_order(x: f64[n, k], y: f64[k, m]) -> f64[n, m]:
    return x @ y


@at.fn
def gathered(x: f64[n, k], at_: at.i64[m], y: f64[k, m]) -> f64[n, m]:
    return [[sum(x[i, p] * y[p, at_[j]] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def triangle(x: f64[n, n], y: f64[n, n]) -> f64[n, n]:
    return [[sum(x[i, p] * y[p, j] for p in range(i)) for j in range(n)] for i in range(n)]


@at.fn
def times_vector(x: f32[n, k], y: f32[k]) -> f32[n]:
    return x @ y


@at.fn
def dense(x: f64[n, k], y: f64[k], bias: f64[n]) -> f64[n]:
    return x @ y + bias


@at.fn
def both_ways(x: f64[n, k], y: f64[k]) -> f64[k]:
    return (x @ y) @ x


def full(*shape):
    return rng.standard_normal(shape)


CASES = {
    "matmul": (matmul, lambda s: (full(s, s + 3).astype("f4"), full(s + 3, s + 1).astype("f4")), lambda x, y: x @ y),
    "matmul64": (matmul64, lambda s: (full(s, s + 3), full(s + 3, s + 1)), lambda x, y: x @ y),
    "left transposed": (left_transposed, lambda s: (full(s, s + 3), full(s, s + 1)), lambda x, y: x.T @ y),
    "right transposed": (right_transposed, lambda s: (full(s + 2, s).astype("f4"), full(s + 5, s).astype("f4")), lambda x, y: x @ y.T),
    "result transposed": (result_transposed, lambda s: (full(s, s + 3), full(s + 3, s + 1)), lambda x, y: (x @ y).T),
    "gram": (gram, lambda s: (full(s + 1, s),), lambda x: x @ x.T),
    "batched": (batched, lambda s: (full(3, s, 2 * s).astype("f4"), full(3, 2 * s, s).astype("f4")), lambda x, y: x @ y),
    "heads": (heads, lambda s: (full(s, 4, s), full(s + 1, 4, s)), lambda x, y: np.einsum("ihp,jhp->hij", x, y)),
    "rows of two": (rows_of_two, lambda s: (full(s, 3, s), full(s, s)), lambda x, y: x @ y),
    "convolution": (convolution, lambda s: (full(3, s + 2, s + 1).astype("f4"), full(5, 3, 3, 2).astype("f4")), lambda x, w: np.einsum("cijab,dcab->dij", np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2)), w)),
    "layer": (layer, lambda s: (full(s, s + 3), full(s + 3, s + 1), full(s + 1)), lambda x, w, v: np.maximum(np.tanh(x) @ w + v, 0)),
    "reversed": (reversed_rows, lambda s: (full(s, s + 3), full(s + 3, s + 1)), lambda x, y: x[::-1] @ y[::-1]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_is_used(name):
    f, _, _ = CASES[name]
    assert "at_rt->product(" in f.show("c")
    assert "product of" in f.show("loops")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name):
    f, data, expected = CASES[name]
    for size in (0, 1, 5) if name != "convolution" else (1, 5):
        args = data(size)
        agree(f, *args, expected=expected(*args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [17, 64, 150])
def test_values_and_threads(name, size):
    f, data, expected = CASES[name]
    args = data(size)
    found = for_all_threads(f, *args)
    wide = expected(*(a.astype(np.float64) for a in args))
    scale = np.abs(wide).max()
    assert np.abs(found - wide).max() <= (2e-5 if found.dtype == np.float32 else 1e-12) * scale


SHAPES = [(1, 700, 90), (700, 1, 90), (13, 2100, 7), (300, 40, 1030), (7, 7, 5000), (1, 1, 5000), (40, 1003, 170), (90, 130, 700), (20, 1500, 120), (24, 700, 300), (150, 2100, 40), (200, 530, 60), (290, 300, 310), (5, 10, 20000)]
THIN = [(1, 2003, 77), (2, 700, 301), (3, 1100, 130), (4, 333, 501), (5, 600, 200), (6, 517, 300), (600, 1, 301), (77, 2, 1030), (500, 3, 133), (2, 3, 700), (9, 10, 3000)]


@pytest.mark.parametrize("shape", SHAPES + THIN)
def test_odd_shapes(shape):
    rows, columns, depth = shape
    for dtype, f, tolerance in (("f4", matmul, 1e-4), ("f8", matmul64, 1e-12)):
        x, y = full(rows, depth).astype(dtype), full(depth, columns).astype(dtype)
        wide = x.astype(np.float64) @ y.astype(np.float64)
        results = []
        try:
            for threads in (1, 2, 5):
                at.set_threads(threads)
                results.append(f(x, y))
        finally:
            at.set_threads(2)
        assert np.abs(results[0] - wide).max() <= tolerance * np.abs(wide).max()
        assert all(np.array_equal(r, results[0]) for r in results), "results depend on the number of threads"


@pytest.mark.parametrize("shape", THIN)
def test_thin_shapes_stay_inside_their_arrays(shape):
    """Neither more is written than the result, nor is anything beyond the arguments used."""
    rows, columns, depth = shape
    for f, x, y, tolerance in (
        (left_transposed, full(depth, rows), full(depth, columns), 1e-12),
        (right_transposed, full(rows, depth).astype("f4"), full(columns, depth).astype("f4"), 1e-4),
    ):
        padded = [np.full(a.size + 64, np.nan, a.dtype) for a in (x, y)]
        inside = [p[32:-32].reshape(a.shape) for p, a in zip(padded, (x, y), strict=True)]
        for p, a in zip(inside, (x, y), strict=True):
            p[...] = a
        wide = x.astype(np.float64).T @ y if f is left_transposed else x.astype(np.float64) @ y.astype(np.float64).T
        assert np.abs(f(*inside) - wide).max() <= tolerance * np.abs(wide).max()


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (5, 3), (7, 64), (33, 100), (90, 127), (300, 1001), (3, 9000), (9000, 20)])
def test_matrix_times_vector(shape):
    rows, depth = shape
    x, y = full(rows, depth).astype("f4"), full(depth).astype("f4")
    found = for_all_threads(times_vector, x, y)
    wide = x.astype(np.float64) @ y.astype(np.float64)
    assert np.abs(found - wide).max(initial=0) <= 1e-5 * max(1.0, np.abs(wide).max(initial=0))


def test_a_vector_is_left_to_loops_that_do_more_with_a_row():
    assert "at_rt->product(" in times_vector.show("c")
    for f in (dense, both_ways):
        assert "at_rt->product(" not in f.show("c")


def test_a_product_in_every_round():
    x = full(40, 40) / 6
    assert "at_rt->product(" in in_a_loop.show("c")
    np.testing.assert_allclose(in_a_loop(x, 3), x @ x @ x @ x, rtol=1e-9, atol=1e-12)


def test_no_kernel_where_it_would_change_the_meaning_or_not_fit():
    x, y = full(6, 7), full(7, 6)
    for f in (in_order, gathered, triangle):
        assert "at_rt->product(" not in f.show("c")
    agree(in_order, x, y, expected=x @ y)
    pick = np.array([3, 1, 0, 5, 5, 2])
    agree(gathered, x, pick, y, expected=x @ y[:, pick])
    z = full(5, 5)
    agree(triangle, z, z, expected=np.tril(z, -1) @ z)


def test_exported_code_has_loops_of_its_own(tmp_path):
    files = matmul.export_c(tmp_path)
    assert all("at_rt" not in file.read_text() for file in files)


def test_a_library_can_do_it_and_a_wrong_one_is_refused(tmp_path):
    import subprocess
    import sys

    program = "import atoll as at, numpy as np\nn = at.sizes('n')\n@at.fn\ndef f(x: at.f64[n, n]) -> at.f64[n, n]:\n    return x @ x\nprint(f(np.eye(40))[3, 3])\n"
    file = tmp_path / "p.py"
    file.write_text(program)
    blas = tmp_path / "blas.c"
    blas.write_text("void cblas_sgemm(void) {}\nvoid cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double s, const double *a, int lda, const double *b, int ldb, double t, double *c, int ldc) { for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) c[i * ldc + j] = 7; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "blas.so"), str(blas)], check=True)
    import os

    run = lambda path: subprocess.run([sys.executable, str(file)], env={**os.environ, "ATOLL_BLAS": path, "PYTHONPATH": os.getcwd()}, capture_output=True, text=True)
    assert run(str(tmp_path / "blas.so")).stdout.strip() == "7.0"
    assert "E0812" in run("/nowhere.so").stderr


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_tiny_products_are_one_function(dtype: str) -> None:
    """Below 64 multiplications no loops of the program's own are compiled: one function does them all, of every number of levels."""
    head = "import atoll as at\nfrom atoll import *\nn, m, k = at.sizes('n m k')\n"
    f = at.fn(source=f"{head}def f(x: {dtype}[n, k], y: {dtype}[k, m]):\n    return x @ y, (x @ y) @ y.T, tanh(x @ y)\n")
    assert f.show("c").count("at_tiny_" + dtype + "(const") == 1
    rng = np.random.default_rng(0)
    for n, m, k in [(0, 0, 0), (1, 1, 0), (0, 3, 2), (1, 1, 1), (2, 3, 4), (3, 3, 3), (1, 1, 63), (63, 1, 1), (1, 62, 1), (4, 4, 4), (5, 5, 5)]:
        x, y = (rng.standard_normal(s).astype(np.float32 if dtype == "f32" else np.float64) for s in ((n, k), (k, m)))
        for found, expected in zip(f(x, y), (x @ y, (x @ y) @ y.T, np.tanh(x @ y)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
