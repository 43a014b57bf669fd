"""Everyday programs by someone who knows Python and NumPy: interpreted, every third compiled too (make odd-values compiles all)."""

from __future__ import annotations

import copy
import inspect
import os
import types
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.language.algorithms import PROGRAMS as LOOPS
from tests.language.vectorised import PROGRAMS as ARRAYS

ALL = [*LOOPS, *ARRAYS]
EVERY = 1 if os.environ.get("ATOLL_LONG") else 4


def in_python(fn: Any, case: tuple[Any, ...]) -> Any:
    """The function as Python runs it, with the sizes of its annotations as numbers."""
    names = dict(fn.__globals__)
    for p, value in zip(inspect.signature(fn).parameters.values(), case):
        for size, length in zip(str(p.annotation).partition("[")[2].rstrip("]").split(","), np.shape(value)):
            if size.strip().isidentifier():
                names[size.strip()] = length
    return types.FunctionType(fn.__code__, names, fn.__name__)(*copy.deepcopy(case))


def parts(value: Any) -> list[Any]:
    return [np.asarray(x) for x in value] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda k: ALL[k][0].__name__)
def test_it_means_what_it_meant(number: int) -> None:
    fn, cases = ALL[number]
    f = at.fn(fn)
    for case in cases:
        wanted = parts(in_python(fn, case))
        for run in (f.interpret, f) if number % EVERY == 0 else (f.interpret,):
            found = parts(run(*copy.deepcopy(case)))
            assert len(found) == len(wanted)
            for x, y in zip(found, wanted):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("text", "code"), [("    b = a and 3\n    return b\n", "E0208"), ("    out = []\n    return out\n", "E0233")])
def test_what_is_refused_says_how(text: str, code: str) -> None:
    with pytest.raises(at.Error, match=code) as caught:
        at.fn(source="import atoll as at\nfrom atoll import i64\n@at.fn\ndef f(a: i64):\n" + text)
    assert "help:" in str(caught.value)
