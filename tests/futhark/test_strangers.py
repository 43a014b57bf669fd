"""Programs of strangers (strangers.py, strangers_round.py, strangers_third.py, strangers_fourth.py, strangers_fifth.py): right ones against NumPy, interpreted and compiled; wrong ones are told what is wrong, at its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.futhark import strangers, strangers_fifth, strangers_fourth, strangers_round, strangers_third

RIGHT = strangers.RIGHT | strangers_round.RIGHT | strangers_third.RIGHT | strangers_fourth.RIGHT | strangers_fifth.RIGHT
WRONG = strangers.WRONG | strangers_round.WRONG | strangers_third.WRONG | strangers_fourth.WRONG


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
