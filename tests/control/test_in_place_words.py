"""What NumPy does in place is a statement that updates, wherever it stands: in rounds, branches, cases and local functions, of names and of parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.elaborate.numpy_names.names import STATEMENTS
from atoll.surface import syntax as s
from atoll.surface.names import binds
from tests.oracle import in_python

HEAD = """import numpy as np
import atoll as at
from atoll import f64, i64, bool_
n = at.sizes("n")

@at.fn
def f(x: f64[n], a: f64[n, n], p: i64[n], b: bool_[n], t: i64):
"""
WORDS = {
    "np.add.at(x, p, 1.5)": "x",
    "np.subtract.at(x, p, x)": "x",
    "np.maximum.at(x, p, 0.25)": "x",
    "np.put(x, p, 9.0)": "x",
    "x.put(p, t)": "x",
    "x.fill(t)": "x",
    "x.sort()": "x",
    "x.partition(0)": "x",
    "np.copyto(x, a[0])": "x",
    "np.putmask(x, b, 4.0)": "x",
    "np.put(a=x, ind=p, v=9.0)": "x",
    "np.copyto(src=a[0], dst=x)": "x",
    "np.fill_diagonal(a=a, val=2.0)": "a",
    "np.add.at(a, p, x)": "a",
    "np.put_along_axis(a, p[:, None], 7.0, axis=1)": "a",
    "np.fill_diagonal(a, x[0])": "a",
    "a[0].sort()": "a",
    "np.add.at(a[0], p, 1.0)": "a",
    "np.copyto(a, a.T)": "a",
}
AROUND = {
    "rounds": "    for r in range(3):\n        {}\n        x[0] -= r\n",
    "rounds of rounds": "    for r in range(2):\n        for q in range(r + 1):\n            {}\n",
    "a branch": "    if t > 1:\n        {}\n",
    "the other branch": "    if t > 5:\n        x[0] = 1.0\n    else:\n        {}\n",
    "a branch in rounds": "    for r in range(4):\n        if r % 2 == 0:\n            {}\n        elif r == 1:\n            a[0, 0] = x[0]\n",
    "a while": "    k = 0\n    while k < 3:\n        {}\n        k += 1\n",
    "a case": "    for r in range(3):\n        match r:\n            case 1:\n                {}\n            case _:\n                x[0] += 1.0\n",
    "after a break": "    for r in range(5):\n        if r == 3:\n            break\n        {}\n    else:\n        x[0] = 0.0\n",
    "after a continue": "    for r in range(5):\n        if r == t:\n            continue\n        {}\n",
    "rounds over elements": "    for v in p:\n        if v > 0:\n            {}\n",
}


def _text(word: str, around: str) -> str:
    return HEAD + AROUND[around].format(word) + "    return x, a\n"


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("word", WORDS)
def test_as_numpy(word: str, around: str) -> None:
    text = _text(word, around)
    f, oracle = at.fn(source=text), in_python(text, "f")
    for size in (1, 2, 5):
        args = _arguments(size)
        expected = oracle(*args)
        for found, wanted in zip(f.interpret(*args), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("around", ["rounds", "a branch in rounds", "a while"])
@pytest.mark.parametrize("word", ["np.add.at(x, p, 1.5)", "x.sort()", "np.copyto(a, a.T)", "np.put(x, p, 9.0)"])
def test_compiled(word: str, around: str) -> None:
    text = _text(word, around)
    args = _arguments(4)
    for found, wanted in zip(at.fn(source=text)(*args), in_python(text, "f")(*args), strict=True):
        np.testing.assert_array_equal(found, wanted)


def _arguments(size: int) -> list[Any]:
    g = np.random.default_rng(size)
    return [g.integers(-9, 9, size) / 4, g.integers(-9, 9, (size, size)) / 4, g.integers(0, size, size), g.random(size) < 0.5, np.int64(2)]


def test_rounds_cost_what_they_write() -> None:
    text = HEAD.replace("p: i64[n]", "p: i64[k, 3]").replace('n = at.sizes("n")', 'n, k = at.sizes("n k")')
    for word in ("np.add.at(x, p[r], 1.0)", "np.put(x, p[r], 1.0)"):
        f = at.fn(source=text + f"    for r in range(k):\n        {word}\n    return x\n")
        assert "every round" not in str(f.memory())
        assert f.cost().bytes_written.degree("n") == 1  # the copy of the argument


def test_the_text_alone_tells_what_changes() -> None:
    """A word that NumPy does in place and that the front end does not know as one would be lost in loops."""
    assert {word for word in STATEMENTS if not any(text.startswith(f"np.{word}(") for text in WORDS)} <= {f"{name}.at" for name in ("minimum", "multiply")}
    for text, changed in WORDS.items():
        body = at.fn(source=_text(text, "a branch")).surface.body
        assert isinstance(body[0], s.If) and binds(body[0].then) == {changed}, text


ON_PARTS = ["{}.sort()", "{}.fill(7.0)", "np.add.at({}, 0, 1.5)", "np.copyto({}, 3.0)", "np.put({}, 0, 9.0)", "np.putmask({0}, {0} > -9, 5.0)"]
VIEWS = ["x[:]", "x[::-1]", "x[1:]", "x[::2]", "a[0]", "a[:, 1]", "a[1:, 0]", "a[p[0]]", "a[::-1, -1]"]
COPIES = ["x[p]", "x[b]", "x[[0, 1]]", "x[x > 0]", "x[np.where(b)]", "a[p, 0]", "a[0, p]", "a[:, p]", "a[b]", "a[p, p]", "x[1:][p[:1]]", "a[0][b]"]


@pytest.mark.parametrize("part", VIEWS)
def test_in_views(part: str) -> None:
    for word in ON_PARTS:
        text = HEAD + f"    {word.format(part)}\n    return x, a\n"
        args = _arguments(4)
        for found, wanted in zip(at.fn(source=text).interpret(*args), in_python(text, "f")(*args), strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=word.format(part))


@pytest.mark.parametrize("part", COPIES)
def test_copies_are_refused(part: str) -> None:
    """Index arrays and masks make copies: NumPy changes those and forgets them. They were put back, as in x[p] = np.sort(x[p])."""
    for word in ON_PARTS:
        with pytest.raises(at.Error, match="E0219: .*which is a copy in NumPy|E0265: np.add.at: indices that are not one array"):
            at.fn(source=HEAD + f"    {word.format(part)}\n    return x, a\n")


def test_a_function_of_the_same_name_is_none() -> None:
    """np.sort(x) alone does nothing: it is refused as such, in a loop too."""
    with pytest.raises(at.Error, match="E0115"):
        at.fn(source=HEAD + "    for r in range(3):\n        np.sort(x)\n    return x\n")


def test_masks_of_square_matrices() -> None:
    """Both axes have one size: the matrix that comes back is not a row of it."""
    text = HEAD.replace("b: bool_[n]", "b: bool_[n, n]") + "    a[b] *= 2.0\n    c = np.stack([a, a])\n    c[c > 0] += 1.0\n    return a, c\n"
    f, oracle = at.fn(source=text), in_python(text, "f")
    for size in (0, 1, 2, 5):
        g = np.random.default_rng(size)
        args = [np.ones(size), g.integers(-9, 9, (size, size)) / 4, np.zeros(size, np.int64), g.random((size, size)) < 0.5, np.int64(0)]
        for way in (f.interpret, f):
            for found, wanted in zip(way(*args), oracle(*args), strict=True):
                np.testing.assert_array_equal(found, wanted)
