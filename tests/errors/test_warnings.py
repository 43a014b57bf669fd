"""NumPy users are told when an update does not reach the other name of an array, at the line where they wrote it."""

import warnings

import pytest

import atoll as at
from atoll import f64

n = at.sizes("n")


def test_updating_one_of_two_names():
    with pytest.warns(at.AliasWarning) as caught:

        @at.fn
        def both(x: f64[n]):
            q = x
            q[0] = 1.0
            return x, q

    (warning,) = caught
    assert str(warning.message) == (
        "q[0] = ... changes q only; x keeps the old value (arrays are values in Atoll). Write q = at.copy(x) to say so."
    )
    assert (warning.filename, warning.lineno) == (__file__, both.surface.span.line + 2)


def test_a_written_copy_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @at.fn
        def both(x: f64[n]):
            q = at.copy(x)
            q[0] = 1.0
            return x, q

    assert both.type == "both(x: f64[n]) -> (f64[n], f64[n])"


def test_updating_in_a_loop():
    with pytest.warns(at.AliasWarning) as caught:

        @at.fn
        def shifted(g: f64[n]):
            t = g
            for i in range(1, n):
                t[i] = g[i - 1] + 1.0
            return t

    (warning,) = caught
    assert "changes t only; g keeps the old value" in str(warning.message) and warning.lineno == shifted.surface.span.line + 3


def test_state_of_a_loop_with_one_name_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @at.fn
        def running(x: f64[n]):
            for i in range(1, n):
                x[i] = x[i - 1] + 1.0
            return x

    assert running.type == "running(x: f64[n]) -> f64[n]"
