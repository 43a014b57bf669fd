"""Decisions can be read, tuned and pinned."""

import numpy as np
import pytest

import atoll as at
from atoll import cli, f64

n, m = at.sizes("n m")

PROGRAM = """import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def columns(A: f64[n, m]) -> f64[m]:
    return sum(A, axis=0)
"""


@at.fn
def product(x: f64[n, m], y: f64[m, n]) -> f64[n, n]:
    return x @ y


@at.fn
def smooth(u: f64[n]) -> f64:
    v = [0.5 * (u[i - 1] + u[i + 1]) if i >= 1 and i < n - 1 else u[i] for i in range(n)]
    return sum(exp(x) for x in v)


def test_the_schedule_in_words():
    assert "the matrix kernel" in product.explain("schedule")
    text = smooth.explain("schedule")
    assert text.startswith("smooth: how it runs")
    assert "in parallel, pieces of at least 32768 operations" in text and "combined in a fixed tree" in text
    with pytest.raises(at.Error, match="E0814"):
        smooth.explain("nothing")


def load(tmp_path, pinned=None):
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM)
    if pinned is not None:
        (tmp_path / "kernels.tune").write_text(pinned)
    return cli.load(file)["columns"]


def test_pinned_choices(tmp_path):
    x = np.random.default_rng(0).random((40, 5))
    usual = load(tmp_path)
    assert "by_8" in usual.show("c")
    f = load(tmp_path, "[columns]\njam = 4\ngrain = 1000\n")
    assert "by_4" in f.show("c") and ", 1000, " in f.show("c")
    assert "jam = 4" in f.explain("schedule")
    assert np.array_equal(f(x), usual(x))
    off = load(tmp_path, "[columns]\njam = 1\n")
    assert "by_8" not in off.show("c")
    assert np.array_equal(off(x), usual(x))


@pytest.mark.parametrize("text", ["[columns]\nspeed = 9\n", "[columns]\njam = fast\n", "[columns]\nchecks = 3\n", "jam = 3\n", "[columns]\ngrain = 0\n"])
def test_a_wrong_file_is_refused(tmp_path, text):
    f = load(tmp_path, text)
    with pytest.raises(at.CompileError, match="E0813"):
        f(np.ones((2, 2)))


def test_tuning_writes_a_file(tmp_path, capsys):
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM)
    assert cli.main(["tune", f"{file}:columns", "--size", "n=30", "--size", "m=20", "--seconds", "0.01"]) == 0
    assert "as usual" in capsys.readouterr().out
    assert "[columns]" in (tmp_path / "kernels.tune").read_text()
    assert cli.main(["tune", f"{file}:columns", "--size", "n=many"]) == 2
