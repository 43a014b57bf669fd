"""Decisions can be read, tuned and pinned."""

import numpy as np
import pytest

import atoll as at
from atoll import cli, command_files, f64

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
    return command_files.load(file)["columns"]


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


WRONG = {  # the text, the line that is wrong, what is said and what is suggested
    "[columns]\nspeed = 9\n": (2, "speed is no choice", "choose among grain"),
    "[columns]\nlane = off\n": (2, "lane is no choice", "did you mean lanes?"),
    "[columns]\njam = fast\n": (2, "jam is fast", "as in jam = 8"),
    "[columns]\njam = -1\n": (2, "jam is -1", "from 1 to"),
    "[columns]\njam = 0\n": (2, "jam is 0", "from 1 to"),
    "[columns]\nunroll = -1\n": (2, "unroll is -1", "from 0 to"),
    "[columns]\nchecks = 3  # hm\n": (2, "checks is 3", "write checks = on or checks = off"),
    "[columns]\ngrain = 0\n": (2, "grain is 0", "from 1 to"),
    "jam = 3\n": (1, "jam stands before the first [function]", "mend the line"),
    "# mine\n\n[colums]\njam = 4\n": (3, "kernels.py has no function colums", "did you mean [columns]?"),
    "[blur]\njam = 4\n": (1, "kernels.py has no function blur", "mend the line"),
    "[columns]\njam = 4\n[columns]\n": (3, "[columns] is there twice", "mend the line"),
    "[columns]\njam = 4\njam = 8\n": (3, "jam is there twice", "mend the line"),
    "[columns]\n  fast please\n": (2, "'fast please' is neither [function] nor choice = value", "mend the line"),
    "[columns\njam = 4\n": (1, "'[columns' is neither", "mend the line"),
    "[columns]\njam =\n": (2, "'jam =' is neither", "mend the line"),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_in_the_users_words(tmp_path, text):
    line, said, suggested = WRONG[text]
    f = load(tmp_path, text)
    with pytest.raises(at.CompileError) as caught:
        f(np.ones((2, 2)))
    told = str(caught.value)
    assert told.startswith(f"E0813: kernels.tune cannot be used: {said}") and suggested in told.partition("help: ")[2]
    assert f"kernels.tune:{line}:" in told and "^" in told
    assert "configparser" not in told and "section" not in told and "parsing" not in told


def test_a_file_that_is_no_text_is_refused(tmp_path):
    f = load(tmp_path, "")
    (tmp_path / "kernels.tune").write_bytes(b"[columns]\n\xff\n")
    with pytest.raises(at.CompileError, match="kernels.tune cannot be used: it is no text: byte 11"):
        f(np.ones((2, 2)))


def test_a_name_bound_to_a_function_may_be_pinned(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM + "\n\nother = columns\n")
    (tmp_path / "kernels.tune").write_text("[columns]  ; a remark\njam = 4 # another\n\n[other]\ntall = off\n")
    assert "by_4" in command_files.load(file)["columns"].show("c")


def test_tuning_writes_a_file(tmp_path, capsys):
    file = tmp_path / "kernels.py"
    file.write_text(PROGRAM)
    assert cli.main(["tune", f"{file}:columns", "--size", "n=30", "--size", "m=20", "--seconds", "0.01"]) == 0
    assert "as usual" in capsys.readouterr().out
    assert "[columns]" in (tmp_path / "kernels.tune").read_text()
    assert cli.main(["tune", f"{file}:columns", "--size", "n=many"]) == 2
