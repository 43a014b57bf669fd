"""What follows a product is joined to it: it happens where it may, the values stay, also where pieces cannot be joined at run time."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from atoll.loops.choices import USUAL
from atoll.runtime.program import Program
from tests.agreement import agree

n, m, k, l, b = at.sizes("n m k l b")
rng = np.random.default_rng(7)
SAID = "is done with its rows"


@at.fn
def layer(x: f32[n, k], w: f32[k, m], bias: f32[m]) -> f32[n, m]:
    return maximum(x @ w + bias, 0.0)


@at.fn
def into_another_type(x: f64[n, k], w: f64[k, m], y: f64[n, m]) -> f32[n, m]:
    return f32(tanh(x @ w) * y)


@at.fn
def softmax_of_rows(q: f64[n, k], p: f64[m, k]) -> f64[n, m]:
    s = q @ p.T / sqrt(f64(k + 1))
    e = [[exp(x - max(row)) for x in row] for row in s]
    return [[x / sum(row) for x in row] for row in e]


@at.fn
def sums_of_rows(x: f64[n, k], w: f64[k, m]) -> f64[n]:
    return [sum(v * v for v in row) for row in x @ w]


@at.fn
def distances(x: f64[n, k]) -> f64[n, n]:
    norms = [sum(v * v for v in row) for row in x]
    inner = x @ x.T
    return [[norms[i] + norms[j] - 2 * inner[i, j] for j in range(n)] for i in range(n)]


@at.fn
def two_layers(x: f64[n, k], w: f64[k, m], v: f64[m, l]) -> f64[n, l]:
    return tanh(tanh(x @ w) @ v) + 1


@at.fn
def every_step(x: f64[n, n], steps: at.i64) -> f64[n, n]:
    y = x
    for _ in range(steps):
        y = tanh(y @ x)
    return y


@at.fn
def checked(x: f64[n, k], w: f64[k, m], places: at.i64[n, m], table: f64[l]) -> f64[n, m]:
    s = x @ w
    return [[s[i, j] + table[places[i, j]] for j in range(m)] for i in range(n)]


@at.fn
def transposed_reads(x: f64[n, k], w: f64[k, n]) -> f64[n, n]:
    s = x @ w
    return [[s[i, j] + s[j, i] for j in range(n)] for i in range(n)]


@at.fn
def one_number(x: f64[n, k], w: f64[k, m]) -> f64:
    s = x @ w
    return sum(tanh(v) for row in s for v in row)


@at.fn
def beside_checks(x: f64[n, k], w: f64[k, m], labels: at.i64[n]) -> f64[n]:
    hidden = maximum(x @ w, 0.0)
    return [row[l % at.i64(m + 1)] if l % at.i64(m + 1) < m and l >= 0 else 0.0 for row, l in zip(hidden, labels)]


def full(*shape):
    return rng.standard_normal(shape)


def softmax(s):
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def steps(x, count):
    y = x
    for _ in range(count):
        y = np.tanh(y @ x)
    return y


CASES = {
    "layer": (layer, lambda s: (full(s, s + 3).astype("f4"), full(s + 3, s + 1).astype("f4"), full(s + 1).astype("f4")), lambda x, w, v: np.maximum(x @ w + v, 0)),
    "into another type": (into_another_type, lambda s: (full(s, s + 3), full(s + 3, s + 1), full(s, s + 1)), lambda x, w, y: (np.tanh(x @ w) * y).astype("f4")),
    "softmax of rows": (softmax_of_rows, lambda s: (full(s, s + 3), full(s + 1, s + 3)), lambda q, p: softmax(q @ p.T / np.sqrt(q.shape[1] + 1))),
    "sums of rows": (sums_of_rows, lambda s: (full(s, s + 3), full(s + 3, s + 1)), lambda x, w: ((x @ w) ** 2).sum(1)),
    "distances": (distances, lambda s: (full(s, s + 3),), lambda x: ((x[:, None] - x[None]) ** 2).sum(-1)),
    "two layers": (two_layers, lambda s: (full(s, s + 3), full(s + 3, s + 1), full(s + 1, s + 2)), lambda x, w, v: np.tanh(np.tanh(x @ w) @ v) + 1),
    "beside checks": (beside_checks, lambda s: (full(s, s + 3), full(s + 3, s + 1), np.full(s, s, "i8")), lambda x, w, l: np.maximum(x @ w, 0)[np.arange(len(x)), l]),
    "every step": (every_step, lambda s: (full(s, s) / 4, 3), steps),
}


@pytest.mark.parametrize("name", CASES)
def test_it_happens(name):
    f = CASES[name][0]
    assert SAID in f.explain("schedule")
    assert "_rows, &at_context" in f.show("c")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name):
    f, data, expected = CASES[name]
    for size in (0, 1, 6):
        args = data(size)
        agree(f, *args, expected=expected(*args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [23, 140])
def test_values_are_those_of_a_loop_of_its_own(name, size):
    f, data, expected = CASES[name]
    args = data(size)
    apart = Program(f.core, f._arguments, choices=dataclasses.replace(USUAL, follow=False)).call(*args)
    try:
        for threads in (1, 2, 5):
            at.set_threads(threads)
            assert np.array_equal(f(*args), apart), threads
    finally:
        at.set_threads(2)
    np.testing.assert_allclose(apart, expected(*args), rtol=1e-3 if apart.dtype == np.float32 else 1e-8, atol=2e-4 if apart.dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("shape", [(30, 4200, 40), (5, 700, 900), (700, 40, 1100), (1000, 9, 60), (3, 3, 2000), (2, 1500, 200), (600, 2, 300)])
def test_shapes_that_are_cut_in_other_ways(shape):
    """Several blocks of columns or of k, columns shared between threads."""
    rows, columns, depth = shape
    x, w, v = full(rows, depth).astype("f4"), full(depth, columns).astype("f4"), full(columns).astype("f4")
    apart = Program(layer.core, layer._arguments, choices=dataclasses.replace(USUAL, follow=False)).call(x, w, v)
    try:
        for threads in (1, 2, 5):
            at.set_threads(threads)
            assert np.array_equal(layer(x, w, v), apart), threads
    finally:
        at.set_threads(2)
    np.testing.assert_allclose(apart, np.maximum(x @ w + v, 0), rtol=1e-3, atol=1e-3)


def test_it_does_not_happen_where_rows_are_not_enough():
    for f in (transposed_reads, one_number):
        assert SAID not in f.explain("schedule")
    x, w = full(20, 9), full(9, 20)
    agree(transposed_reads, x, w, expected=x @ w + (x @ w).T)
    agree(one_number, x, w, expected=np.tanh(x @ w).sum())


def test_errors_in_what_follows_are_the_same():
    x, w, table = full(60, 30), full(30, 50), full(4)
    places = rng.integers(0, 4, (60, 50))
    np.testing.assert_allclose(checked(x, w, places, table), x @ w + table[places], atol=1e-10)
    places[41, 7] = 4
    places[52, 3] = 9
    found = []
    for choices in (USUAL, dataclasses.replace(USUAL, follow=False, checks=False), dataclasses.replace(USUAL, checks=False)):
        program = Program(checked.core, checked._arguments, choices=choices)
        for threads in (1, 3):
            at.set_threads(threads)
            with pytest.raises(IndexError) as caught:
                program.call(x, w, places, table)
            found.append(str(caught.value))
    at.set_threads(2)
    assert len(set(found)) == 1 and "4" in found[0]


def test_memory_is_what_is_said():
    assert {u.name for u in layer.memory() if u.kind != "result"} == set()
    assert len(two_layers.memory().temporaries) == 1


def test_exported_code_has_it_as_loops(tmp_path):
    files = layer.export_c(tmp_path)
    text = "".join(f.read_text() for f in files)
    assert "at_rt" not in text and "_rows" not in text


def test_a_library_does_the_product_and_we_the_rest(tmp_path):
    program = "import atoll as at, numpy as np\nn = at.sizes('n')\n@at.fn\ndef f(x: at.f64[n, n]) -> at.f64[n, n]:\n    return maximum(x @ x - 5.0, 0.0)\nprint(f(np.eye(40)).sum())\n"
    (tmp_path / "p.py").write_text(program)
    blas = tmp_path / "blas.c"
    blas.write_text("void cblas_sgemm(void) {}\nvoid cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double s, const double *a, int lda, const double *b, int ldb, double t, double *c, int ldc) { for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) c[i * ldc + j] = 7; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "blas.so"), str(blas)], check=True)
    run = subprocess.run([sys.executable, str(tmp_path / "p.py")], env={**os.environ, "ATOLL_BLAS": str(tmp_path / "blas.so"), "PYTHONPATH": os.getcwd()}, capture_output=True, text=True)
    assert run.stdout.strip() == "3200.0", run.stderr
