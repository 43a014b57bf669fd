"""Large results go past the caches: that it happens, and that values stay, for lengths around those of lines and for every type."""

import numpy as np
import pytest

import atoll as at
from atoll.loops import profit

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n"


@pytest.fixture
def always(monkeypatch, tmp_path):
    """As if every result were large; compiled programs of this kind are not kept."""
    monkeypatch.setattr(profit, "STREAM_LEAST", 0)
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))


def lengths(size):
    line = profit.STREAM_LINE // size
    return [0, 1, line - 1, line, 2 * line - 1, 2 * line, 2 * line + 1, 5 * line + 3]


@pytest.mark.parametrize("t", ["f32", "f64", "i32", "u8", "c128", "bool_"])
def test_every_type(always, t):
    f = at.fn(source=f"{HEAD}def keep(x: {t}[n], c: bool_[n]): return [x[i] if c[i] else x[i] for i in range(n)]\n")
    g = at.fn(source=f"{HEAD}def turned(x: {t}[n]): return x if False else [x[n - 1 - i] for i in range(n)]\n")
    assert "stored past the caches" in g.explain("schedule")
    dtype = np.dtype(bool if t == "bool_" else {"f32": "f4", "f64": "f8", "i32": "i4", "u8": "u1", "c128": "c16"}[t])
    for n in lengths(dtype.itemsize):
        x = (np.arange(n) % 97).astype(dtype)
        assert (f(x, x == 3) == x).all() and (g(x) == x[::-1]).all()


def test_rows_that_begin_anywhere(always):
    f = at.fn(source=f"{HEAD}def scaled(a: f32, x: f32[n, m], y: f32[m]): return a * x + y\n")
    assert "at_stream(" in f.show("c")
    rng = np.random.default_rng(0)
    for n in (1, 3, 7):
        for m in (1, 511, 512, 513, 530, 1031):
            x, y = rng.random((n, m), np.float32), rng.random(m, np.float32)
            for threads in (1, 2):
                at.set_threads(threads)
                assert (f(2.5, x, y) == np.float32(2.5) * x + y).all()


def test_two_results(always):
    f = at.fn(source=f"{HEAD}def both(x: f64[n], y: f32[n]): return [(x[i] + 1.0, y[i] * 2) for i in range(n)]\n")
    for n in lengths(8):
        x, y = np.arange(n) * 0.5, np.arange(n, dtype=np.float32)
        a, b = f(x, y)
        assert (a == x + 1).all() and (b == y * 2).all()


@pytest.mark.parametrize(
    "body",
    [
        "return [x[i] + x[i + 1] for i in range(n - 1)]",  # neighbours
        "return exp(x)",  # arithmetic
        "return [x[i64(x[i])] for i in range(n)]",  # gathers
    ],
)
def test_others_are_left(always, body):
    f = at.fn(source=f"{HEAD}def other(x: f64[n]):\n    {body}\n")
    assert "at_stream(" not in f.show("c")


def test_what_is_read_again_is_left(always):
    f = at.fn(source=f"{HEAD}def again(x: f64[n]):\n    y = 2.0 * x\n    return y, sum([y[n - 1 - i] * y[i] for i in range(n)])\n").with_plan(y="store")
    assert "at_stream(" not in f.show("c")


def test_it_can_be_switched_off(always, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"{HEAD}@at.fn\ndef twice(x: f64[n]): return 2.0 * x\n")
    (tmp_path / "program.tune").write_text("[twice]\nstream = off\n")
    import importlib.util

    spec = importlib.util.spec_from_file_location("program_streamed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "at_stream(" not in module.twice.show("c")


def test_the_usual_bound():
    f = at.fn(source=f"{HEAD}def plain_twice(x: f64[n]): return 2.0 * x\n")
    n = profit.STREAM_LEAST // 8
    for length in (n - 1, n, n + 77):
        x = np.arange(length, dtype=np.float64)
        assert (f(x) == 2 * x).all()
