"""idx[n]: kept where its size makes sense, an ordinary integer elsewhere (elaborate/decay.py)."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64, idx\nn, m = at.sizes('n m')\n@at.fn\n"


def fn(text: str) -> at.Function:
    return at.fn(source=HEAD + text)


N = np.arange(5)

# (definition, its result's type, arguments, result)
KEPT = [
    ("def f(x: i64[n]):\n    return [i for i in range(n)]", "idx[n][n]", (N,), [0, 1, 2, 3, 4]),
    ("def f(x: i64[n]):\n    return [(i + 1) % n for i in range(n)]", "idx[n][n]", (N,), [1, 2, 3, 4, 0]),
    ("def f(x: i64[n]):\n    c = [i for i in range(n)]\n    for k in range(n):\n        c[k] = (k + 2) % n\n    return c", "idx[n][n]", (N,), [2, 3, 4, 0, 1]),
    ("def f(x: i64[n]):\n    return argsort(x)", "idx[n][n]", (N,), [0, 1, 2, 3, 4]),
]
PLAIN = [
    ("def f(x: i64[n]):\n    return [i % (i + 1) for i in range(n)]", "i64[n]", (N,), [0, 1, 2, 3, 4]),
    ("def f(x: i64[n]):\n    return [v % (v * v + 1) for v in x]", "i64[n]", (N,), [0, 1, 2, 3, 4]),
    ("def f(x: i64[n], y: i64[n]):\n    return x % (y + 2)", "i64[n]", (N, N), [0, 1, 2, 3, 4]),
    ("def f(x: i64[n]):\n    return [(i, i % (i + 1))[1] for i in range(n)]", "i64[n]", (N,), [0, 1, 2, 3, 4]),
    ("def f(x: i64[n]):\n    c = [i for i in range(n)]\n    c[0] = 7\n    return c", "i64[n]", (N,), [7, 1, 2, 3, 4]),
    ("def f(x: i64[n]):\n    c = [i for i in range(n)]\n    c[1:] = x[:-1] + 9\n    return c", "i64[n]", (N,), [0, 9, 10, 11, 12]),
    ("def f(x: i64[n]):\n    c = [i for i in range(n)]\n    for k in range(2):\n        c = c * 2\n    return c", "i64[n]", (N,), [0, 4, 8, 12, 16]),
    ("def f(x: i64[n]):\n    c = [i for i in range(n)]\n    for k in range(n):\n        c[k] += x[k]\n    return c", "i64[n]", (N,), [0, 2, 4, 6, 8]),
    ("def f(x: i64[n]):\n    return scatter([i for i in range(n)], [1, 1], [5, 6], op=add)", "i64[n]", (N,), [0, 12, 2, 3, 4]),
    ("def f(x: i64[n]):\n    return sum(range(n) for k in range(3))", "i64[n]", (N,), [0, 3, 6, 9, 12]),
    ("def f(x: i64[n]):\n    return sum(v for v in x if False)", "i64", (N,), 0),
    ("def f(x: i64[n]):\n    return sum([i, i] for i in range(n))", "i64[2]", (N,), [10, 10]),
    ("def f(x: i64[n], p: at.bool_):\n    if p:\n        k = i64(f64(x[0]) + 3.0)\n        r = x[1] % k\n    else:\n        r = 0\n    return r", "i64", (N, True), 1),
    ("def f(x: i64[n], p: at.bool_):\n    return [1, x[1] % i64(f64(x[0]) + 3.0)] if p else [0, 0]", "i64[2]", (N, True), [1, 1]),
]


@pytest.mark.parametrize(("text", "result", "args", "value"), KEPT + PLAIN, ids=[t.split(":\n", 1)[1][:30].strip() for t, *_ in KEPT + PLAIN])
def test_index_types(text: str, result: str, args: tuple[object, ...], value: object) -> None:
    f = fn(text)
    assert str(f.type).endswith(f"-> {result}")
    np.testing.assert_array_equal(f.interpret(*args), np.asarray(value))
    np.testing.assert_array_equal(f(*args), np.asarray(value))


@pytest.mark.parametrize("divisor", ["k", "n - 1", "-3"])
def test_a_remainder_of_what_may_be_negative_is_no_index(divisor: str) -> None:
    """Such a remainder is negative too, so what is read at it is checked."""
    f = at.fn(
        source=f"""
import atoll as at
from atoll import f64, i64
n = at.sizes("n")
@at.fn
def f(a: f64[n], x: i64, k: i64) -> f64:
    assert k <= n
    return a[x % ({divisor})]
"""
    )
    with pytest.raises(IndexError):
        f(np.arange(0.0) if divisor == "n - 1" else np.arange(5.0), 5, -3)
