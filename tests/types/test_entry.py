"""What the types cannot promise is checked on entry, once, before any work: sizes are not negative, slices and windows fit."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = """
import atoll as at
from atoll import f64, i64
n, m, k = at.sizes("n m k")
@at.fn
def last(x: f64[n+1]) -> f64:
    return x[n]
"""

# (definition, arguments, message)
CASES = [
    ("def f(x: f64[n+1]):\n    return x[n]", (np.zeros(0),), "E0601: f: argument x (axis 0) is 0, but n + 1 is at least 1"),
    ("def f(x: f64[n+m], y: f64[m]):\n    return x[:n]", (np.zeros(2), np.zeros(3)), "E0601: f: argument x (axis 0) is 2, but m + n is at least 3 (m is 3)"),
    ("def f(x: f64[9-n]):\n    return n", (np.zeros(11),), "E0601: f: argument x (axis 0) is 11, but 9 - n is at most 9"),
    ("def f(y: f64[m]):\n    return last(y)", (np.zeros(0),), "E0709: f: last(y) (line 10) needs m >= 1, but m is 0"),
    ("def f(y: f64[n, m]):\n    return last(y)", (np.zeros((2, 0)),), "E0709: f: last(y) (line 10) needs m >= 1, but m is 0"),
    ("def f(y: f64[n, m]):\n    return [last(y[i, :i]) for i in range(n)]", (np.zeros((2, 2)),), "E0709: f: last(y[i, :i]) (line 10) needs i >= 1, but i is 0"),
    ("def f(x: f64[n]):\n    return x[1:-1]", (np.zeros(1),), "E0709: f: x[1:-1] (line 10) needs n >= 2, but n is 1"),
    ("def f(x: f64[n]):\n    return window(x, 3)", (np.zeros(1),), "E0709: f: window(x, 3) (line 10) needs n >= 2, but n is 1"),
    ("def f(x: f64[n], y: f64[m]):\n    return window(x, m)", (np.zeros(1), np.zeros(3)), "E0709"),
    ("def f(x: f64[n]):\n    return trunc_l(x, 4)", (np.zeros(3),), "E0709: f: trunc_l(x, 4) (line 10) needs n >= 4, but n is 3"),
    ("def f(k: i64, x: f64[n]) -> f64[k]:\n    return x[:k]", (4, np.zeros(3)), "E0709: f: x[:k] (line 10) needs k <= n, but k is 4 and n is 3"),
    ("def f(k: i64, x: f64[n]) -> f64[k]:\n    return x[:k]", (-1, np.zeros(3)), "E0709: f: the size k (line 9) needs k >= 0, but k is -1"),
    ("def f(x: f64[n], y: f64[m]):\n    return x[m:]", (np.zeros(2), np.zeros(3)), "E0709: f: x[m:] (line 10) needs m <= n, but m is 3 and n is 2"),
    ("def f(x: f64[n]):\n    assert n % 4 == 0\n    return split(x, 4)", (np.zeros(6),), "E0703"),
]


@pytest.mark.parametrize(("text", "args", "message"), CASES, ids=[f"{k}" for k in range(len(CASES))])
def test_refused_on_entry(text: str, args: tuple[object, ...], message: str) -> None:
    f = at.fn(source=f"{HEAD}@at.fn\n{text}")
    for run in (f, f.interpret):
        with pytest.raises(at.Error) as caught:
            run(*args)
        assert str(caught.value).splitlines()[0].startswith(message)


def test_what_the_signature_promises_is_not_checked() -> None:
    f = at.fn(source=f"{HEAD}@at.fn\ndef f(x: f64[n+2]):\n    return x[1:-1] + last(x)")
    assert "require" not in f.show("core")
    np.testing.assert_array_equal(f(np.arange(4.0)), [4, 5])
