"""Constructs of the language on a device, by the emulation, at sizes 0, 1, 2 and one that fills no warp: values and errors, with their lines, are the interpreter's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import atoll as at
from tests.cuda import mixed, unlike
from tests.cuda.constructs import ROWS, errors_of, tried

assert mixed.TEXTS and unlike.TEXTS  # whose rows are there too
EVERY = 16  # so many-th of them is in `make test`


@pytest.mark.parametrize("name", [name if n % EVERY == 4 else pytest.param(name, marks=pytest.mark.long) for n, name in enumerate(ROWS)])
def test_as_the_interpreter_says(name):
    assert tried(name, sizes=(0, 1, 2, 37)) == ""


HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n\n@at.fn\n"
WRONG = {
    "an index": ("def f(x: f64[n], c: i64[n]):\n    y = x + 1.0\n    return [y[i] for i in c]\n", "E0701"),
    "an index in a loop in order": ("def f(x: f64[n], c: i64[n]):\n    s = 0.0\n    for i in range(n):\n        s = s * 0.5 + x[c[i]]\n    return s\n", "E0701"),
    "an index in a row": ("def f(x: f64[n], c: i64[n]):\n    return [sum(x[c[j] + i - i] for j in range(n)) for i in range(n)]\n", "E0701"),
    "an assert": ("def f(x: f64[n], c: i64[n]):\n    total = sum(c)\n    assert total < 5, f'{total} is too much'\n    return x\n", "E0703"),
    "a division": ("def f(x: f64[n], c: i64[n]):\n    return [7 // (v - 9) for v in c]\n", "E0702"),
    "a scatter": ("def f(x: f64[n], c: i64[n]):\n    return scatter(zeros(n), c, x)\n", ""),
    "a histogram": ("def f(x: f64[n], c: i64[n]):\n    return hist(add, 0.0, 3, c, x)\n", ""),
    "a conversion": ("def f(x: f64[n], c: i64[n]):\n    return [i64(v / 0.0) for v in x]\n", ""),
    "a size": ("def f(x: f64[n], c: i64[n]):\n    return x[1:-1]\n", ""),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_name_their_line(what):
    """The same text as on the CPU: code, line, caret and values."""
    text, code = WRONG[what]
    cpu, there = errors_of(at.fn(source=HEAD + text), "cuda-emulated", 1 if what == "a size" else 6)
    assert cpu == there != "" and code in cpu


@pytest.mark.parametrize("what", [what if n % 4 == 0 else pytest.param(what, marks=pytest.mark.long) for n, what in enumerate(unlike.WRONG)])
def test_errors_of_strangers_name_their_line(what):
    cpu, there = errors_of(unlike.made("f", *unlike.WRONG[what]), "cuda-emulated")
    assert cpu == there and re.search(r"<atoll source \d+>:\d+|line \d+", cpu) is not None, (cpu, there)


REFUSED = {
    "print": "def f(x: f64[n]):\n    print(sum(x))\n    return x\n",
    "recursive": "def f(k: i64) -> i64:\n    return 1 if k < 2 else k * f(k - 1)\n",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_named(what):
    f = at.fn(source=HEAD + REFUSED[what])
    with pytest.raises(at.Error) as caught:
        f.on("cuda-emulated")(np.ones(3) if what == "print" else 3)
    assert caught.value.code == "E0838" and what in str(caught.value), str(caught.value)


COLUMNS = {
    "one element of two": ("def f(x: i64[n, m]):\n    return [hist(or_, 0, 2, [0 for _ in range(3)], [r[0] for _ in range(3)]) for r in x]\n", False),
    "one column of two": ("def f(x: i64[n, m]):\n    return [hist(add, [0.0, 0.0], 2, [1 for _ in r], [[f64(v), 1.0] for v in r]) for r in x]\n", False),
    "all there are": ("def f(x: i64[n, m]):\n    return [hist(add, 0.0, 1, [0 for _ in r], [f64(v) for v in r]) for r in x]\n", True),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_elements_that_no_round_adds_to_stay_as_they_start(what, monkeypatch, tmp_path):
    """What rounds add to an element is its sum in a scalar, and that of no other element (columns.py)."""
    from atoll.backends.cuda import columns, lower

    text, is_found = COLUMNS[what]
    found = []
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path / "cache"))  # what is in a cache is not lowered again
    monkeypatch.setattr(lower, "in_scalars", lambda nest, names: found.append(columns.in_scalars(nest, names)) or found[-1])
    f = at.fn(source=HEAD + text)
    x = np.arange(1, 21).reshape(5, 4)
    assert np.array_equal(f.on("cuda-emulated")(x), f.interpret(x))
    assert any(nest is not None for nest in found) == is_found
