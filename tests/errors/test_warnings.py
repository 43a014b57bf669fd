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
