"""Nothing in the runtime has a size of its own: what a call needs is as large as its program says (tests/runtime/limits.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64
from atoll.runtime import program
from tests.agreement import same
from tests.runtime.limits import Case, cases


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
@pytest.mark.parametrize("path", ["call path", "ctypes"])
def test_more_than_usual(case: Case, path: str, capsys: Any, monkeypatch: Any) -> None:
    if path == "ctypes":
        monkeypatch.setattr(program, "call_path", lambda: None)
    f = case.function()
    if case.error:
        with pytest.raises(at.Error) as error:
            f(*case.args())
        assert case.error in str(error.value)
    else:
        same(f(*case.args()), case.value, case.name)
    assert capsys.readouterr().out.strip() == case.printed


n, m = at.sizes("n m")


@at.fn
def doubled(x: f64) -> f64:
    return 2.0 * x


@at.fn
def rows(x: f64[n, m]) -> f64[n]:
    return [sum(v) for v in x]


class Says:
    """An object that claims to be an array."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.what is RuntimeError:
            raise RuntimeError
        return self if self.what is None else self.what


def test_objects_that_claim_to_be_numbers() -> None:
    assert doubled(Says(np.array(2.5))) == 5.0
    for what in (None, RuntimeError, np.array(None), np.zeros(2), 3):
        with pytest.raises(at.Error):
            doubled(Says(what))


def test_empty_arrays_with_long_axes() -> None:
    assert rows(np.zeros((0, 2**45))).shape == (0,)
    for call in (rows, rows.interpret):
        with pytest.raises(at.SizeError, match="E0612"):
            call(np.zeros((0, 2**58)))
