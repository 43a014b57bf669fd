"""Programs of strangers (strangers.py, strangers_round.py, strangers_third.py, strangers_fourth.py, strangers_fifth.py, strangers_sixth.py): right ones against NumPy, interpreted and compiled; wrong ones are told what is wrong, at its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.futhark import strangers, strangers_fifth, strangers_fourth, strangers_round, strangers_sixth, strangers_third

RIGHT = strangers.RIGHT | strangers_round.RIGHT | strangers_third.RIGHT | strangers_fourth.RIGHT | strangers_fifth.RIGHT | strangers_sixth.RIGHT
WRONG = strangers.WRONG | strangers_round.WRONG | strangers_third.WRONG | strangers_fourth.WRONG | strangers_fifth.WRONG | strangers_sixth.WRONG


def same(found: Any, wanted: Any) -> None:
    for a, b in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("error")  # advice in Python's terms would be one
@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    p = RIGHT[name]
    fn = getattr(at.futhark(source=p.text), p.entry)
    wanted = p.wanted(*p.args)
    same(fn(*p.args), wanted)
    same(fn.interpret(*p.args), wanted)


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    text, code, words = WRONG[name]
    with pytest.raises(at.Error) as told:
        for function in at.futhark(source=text):
            function.type  # noqa: B018  made when it is asked for
    assert told.value.code == code and words in str(told.value), str(told.value)


@pytest.mark.parametrize(("text", "helped"), [
    ("def main [n][m] (xs: [n]i32) (ys: [m]i32) = zip xs ys", "write `:>` with the size you know it has; it is checked when the program runs"),
    ("def main = zip [1i32, 2] [1i32, 2, 3]", ""),  # no size that could hold
    ("def f [n] (xs: [n]i32) = map iota (map i64.i32 xs)", ""),
    ("def main (xs: [n]i32) = xs", "a size is declared before the parameters that have it: [n]"),
    ("def main (xs: []i32) = lenght xs", "did you mean length?"),
    ("def main (xs: []i32) = quite xs", ""),
])  # fmt: skip
def test_help(text: str, helped: str) -> None:
    with pytest.raises(at.Error) as told:
        for function in at.futhark(source=text):
            function.type  # noqa: B018
    assert told.value.help == helped, str(told.value)
