"""Calls of a function that is ready do not come through Python; errors, keywords, captured values and refresh() work as before."""

import inspect
import traceback
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.function import Function
from atoll.runtime.library import call_path

n = at.sizes("n")
OURS = Path(at.__file__).parent
scale = 2.0


@at.fn
def plus(x: f64[n], y: f64[n], by: f64 = 1.0) -> f64[n]:
    """Adds."""
    return x + by * y


@at.fn
def scaled(x: f64[n]) -> f64[n]:
    return scale * x


@at.fn
def pick(x: f64[n], k: i64) -> f64:
    return x[k]


X = np.arange(3.0)


@pytest.mark.skipif(call_path() is None, reason="Python's headers are not here")
def test_it_happens():
    plus(X, X)
    assert inspect.ismethoddescriptor(Function.__dict__["__call__"])
    assert plus._ready is not None and list(inspect.signature(plus).parameters) == ["x", "y", "by"]


def test_every_way_to_give_arguments():
    for _ in range(2):
        for found in (plus(X, X), plus(X, y=X), plus(x=X, y=X), plus(X, X, 1.0), plus(X, by=1.0, y=X), plus.__call__(X, X), Function.__call__(plus, X, X)):
            np.testing.assert_array_equal(found, 2 * X)
    np.testing.assert_array_equal(plus(X[::-1], X), [2.0, 2.0, 2.0])


def test_errors_leave_without_what_is_inside():
    pick(X, 1)
    for call in (lambda: pick(X, 7), lambda: pick(X, "a"), lambda: plus(X, X[:2]), lambda: plus(X), lambda: plus(X, X, z=1)):
        with pytest.raises(at.Error) as caught:
            call()
        frames = [Path(f.filename) for f in traceback.extract_tb(caught.value.__traceback__)]
        assert frames and not any(OURS in f.parents for f in frames), frames  # the clone itself may be called atoll
        assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_captured_values_are_still_looked_at():
    global scale
    np.testing.assert_array_equal(scaled(X), 2 * X)
    try:
        scale = 3.0
        with pytest.raises(at.Error, match="E0606"):
            scaled(X)
        scaled.refresh()
        np.testing.assert_array_equal(scaled(X), 3 * X)
    finally:
        scale = 2.0
        scaled.refresh()


def test_refresh():
    plus(X, X)
    plus.refresh()
    assert plus._ready is None
    np.testing.assert_array_equal(plus(X, X), 2 * X)


def test_without_the_call_path(monkeypatch):
    monkeypatch.setattr(Function, "__call__", lambda self, *args, **keywords: self._decide(*args, **keywords))
    np.testing.assert_array_equal(plus(X, X, by=2.0), 3 * X)
