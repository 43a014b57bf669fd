"""`at.own` and `at.donate`: who may overwrite what. Deleting either changes memory use, never a value."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.front.modules import load

n, m = at.sizes("n m")


@at.fn
def bump(x: at.own[f64[n]], places: i64[m]) -> f64[n]:
    for p in places:
        x[p] = x[p] + 1.0
    return x


@at.fn
def bump_plain(x: f64[n], places: i64[m]) -> f64[n]:
    for p in places:
        x[p] = x[p] + 1.0
    return x


@at.fn
def bump_both(x: at.own[f64[n]], y: f64[n], places: i64[m]) -> f64[n]:
    for p in places:
        x[p] = x[p] + y[p]
    return x


PLACES = np.array([0, 2, 0])
EXPECTED = [2.0, 0.0, 1.0]


def test_without_donate_nothing_is_overwritten():
    for f in (bump, bump_plain, bump.interpret):
        x = np.zeros(3)
        np.testing.assert_array_equal(f(x, PLACES), EXPECTED)
        assert not x.any()


def test_donated_memory_is_taken_over():
    x = np.zeros(3)
    found = bump(at.donate(x), PLACES)
    np.testing.assert_array_equal(found, EXPECTED)
    assert found is x


def test_donating_what_is_not_owned_changes_nothing():
    x = np.zeros(3)
    np.testing.assert_array_equal(bump_plain(at.donate(x), PLACES), EXPECTED)
    assert not x.any()


@pytest.mark.parametrize("how", ["read-only", "strided", "big-endian", "shared"])
def test_donated_memory_that_cannot_be_taken(how):
    x = np.zeros(6)
    if how == "read-only":
        given = x[:3].copy()
        given.flags.writeable = False
    else:
        given = {"strided": x[::2], "big-endian": x[:3].astype(">f8"), "shared": x[:3]}[how]
    if how == "shared":
        given[:] = [1, 2, 3]
        np.testing.assert_array_equal(bump_both(at.donate(given), given, np.array([0, 0])), [3, 2, 3])
        np.testing.assert_array_equal(given, [1, 2, 3])
    else:
        np.testing.assert_array_equal(bump(at.donate(given), PLACES), EXPECTED)
        assert not np.asarray(given).any()


def test_errors_leave_no_trace_of_ownership():
    x = np.zeros(3)
    with pytest.raises(IndexError):
        bump(at.donate(x), np.array([0, 7]))
    np.testing.assert_array_equal(bump(np.zeros(3), PLACES), EXPECTED)
    with pytest.raises(at.TypeError, match="E0603"):
        bump(at.donate(np.zeros(3, "f4")), PLACES)
    with pytest.raises(at.SizeError):
        bump_both(at.donate(x), np.zeros(4), PLACES)


def test_the_interpreter_takes_donations():
    np.testing.assert_array_equal(bump.interpret(at.donate(np.zeros(3)), PLACES), EXPECTED)


def test_the_type_shows_it():
    assert bump.type == "bump(x: at.own[f64[n]], places: i64[m]) -> f64[n]"


# -- inside Atoll

HEAD = "@at.fn\ndef take(a: at.own[f64[n]]) -> f64[n]:\n    a[n - 1] = 0.5\n    return a\n"
GOOD = [
    "return take(x)",
    "y = take(x)\n    return y",
    "x = take(x)\n    return x + 1",
    "return take(x + 1) + x",
    "y = x * 2\n    y = take(y)\n    y = take(y)\n    return y",
    "for t in range(3):\n        x = take(x)\n    return x",
    "if n > 1:\n        return take(x)\n    return x",
    "return take(at.copy(x)) + x",
]
BAD = [
    ("y = take(x)\n    return x + y", "y = take(x)"),
    ("return take(x) + x", "return take(x) + x"),
    ("y = x\n    for t in range(3):\n        y = take(x) + y\n    return y", "y = take(x) + y"),
    ("s = [sum(take(x)) for i in range(3)]\n    return x * s[0]", "sum(take(x))"),
    ("s = [sum(take(x)) + i for i in range(3)]\n    return x[:n] * 0 + s[0]", "sum(take(x))"),
    ("y = take(a=x)\n    return x", "take(a=x)"),
    ("if sum(take(x)) > 1:\n        return x\n    return 2 * x", "take(x)"),
]


@pytest.mark.parametrize("body", GOOD)
def test_given_away_and_not_read_again(tmp_path, body):
    f = load(tmp_path, HEAD + f"@at.fn\ndef f(x: f64[n]):\n    {body}\n").f
    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(f(x), f.interpret(x))
    np.testing.assert_array_equal(x, [1, 2, 3])


@pytest.mark.parametrize(("body", "place"), BAD)
def test_given_away_and_read_again(tmp_path, body, place):
    with pytest.raises(at.TypeError) as caught:
        load(tmp_path, HEAD + f"@at.fn\ndef f(x: f64[n]):\n    {body}\n")
    assert str(caught.value).startswith("E0401: x is given to take, which may overwrite it, but it is read again\n"), caught.value
    assert place in str(caught.value) and "at.copy(x)" in str(caught.value)


def test_deleting_own_changes_no_value(tmp_path):
    for body in GOOD:
        text = HEAD + f"@at.fn\ndef f(x: f64[n]):\n    {body}\n"
        x = np.arange(1.0, 4.0)
        np.testing.assert_array_equal(load(tmp_path, text).f(x), load(tmp_path, text.replace("at.own[f64[n]]", "f64[n]")).f(x))


@pytest.mark.parametrize(("rest", "given"), [("y", True), ("y, x[0]", False), ("y, sum(x)", False), ("y, [v * 2.0 for v in x]", False), ("y, x[i64(y[0])]", False)])
def test_an_array_that_is_read_otherwise_is_not_given_away(rest, given):
    """Wherever it is read: in a sum, in an element, in an index."""
    from atoll.lower.make import compiled_loops
    from atoll.runtime.memory import donations

    text = f"import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\ndef f(x: at.own[f64[n]]):\n    y = at.copy(x)\n    y[0] = 1.0\n    return {rest}\n"
    assert donations(compiled_loops(at.fn(source=text).core)) == ([(0, 0)] if given else [])
