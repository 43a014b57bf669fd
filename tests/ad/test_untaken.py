"""What is not read has an adjoint of 0, also where its slope is infinite: values read under several conditions, at places, in loops."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k = at.sizes('n m k')\n@at.fn\n"
Z, NO = np.zeros(3), -np.ones(3)
PROGRAMS = {
    "two branches": ("def f(x: f64, y: f64) -> f64:\n    r = sqrt(x)\n    a = r * y if y > 0.0 else y\n    b = r * r if y > 1.0 else y\n    return a + b", (0.0, -1.0), 0.0),
    "one branch, summed": ("def f(x: f64, y: f64[n]) -> f64:\n    r = log(x)\n    return sum(r * v if v > 0.0 else v for v in y)", (0.0, NO), 0.0),
    "arrays": ("def f(x: f64[n], y: f64[n]) -> f64:\n    r = 1.0 / x\n    return sum(r[i] if y[i] > 0.0 else 0.0 for i in range(n)) + sum(r[i] * y[i] if y[i] > 1.0 else 0.0 for i in range(n))", (Z, NO), Z),
    "a chain": ("def f(x: f64, y: f64) -> f64:\n    r = log(sqrt(x)) ** 2\n    return (r if y > 0.0 else y) + (r * y if y > 1.0 else y)", (0.0, -1.0), 0.0),
    "a product": ("def f(x: f64, y: f64) -> f64:\n    p = (1.0 / y) * x\n    return (p if x > 1.0 else x) + (p * p if x > 2.0 else x)", (0.5, 0.0), 2.0),
    "gathered": ("def f(x: f64[n], i: i64[m]) -> f64:\n    r = sqrt(x)\n    return sum(r[j] for j in i)", (np.array([0.0, 4.0, 0.0]), np.array([1, 1])), [0.0, 0.5, 0.0]),
    "a loop": ("def f(x: f64[n], y: f64) -> f64:\n    s = 0.0\n    for i in range(n):\n        r = sqrt(x[i])\n        if y > 0.0:\n            s += r\n        if y > 1.0:\n            s += r * r * s\n    return s", (Z, -1.0), Z),
    "a loop that puts": ("def f(x: f64[n]) -> f64:\n    z = zeros(n)\n    for i in range(n):\n        z[i] = sqrt(x[i])\n    return z[1] * z[1]", (np.array([0.0, 4.0, 0.0]),), [0.0, 1.0, 0.0]),
    "read by a loop": ("def f(x: f64[n], i: i64[m]) -> f64:\n    r = sqrt(x)\n    s = 1.0\n    for j in i:\n        s = s * r[j]\n    return s", (np.array([0.0, 4.0, 0.0]), np.array([1, 1])), [0.0, 1.0, 0.0]),
    # rounds multiply until the state overflows, and only a while loop that takes no round would read it (fuzz_ad 960005)
    "overflowed": ("def f(x: f64[n], s: f64, k: i64) -> f64:\n    for i in range(n):\n        x = [v * x[0] for v in x]\n        j = 0\n        while j < k:\n            j = j + 1\n            s = s * 0.1 + x[0]\n    return s", (np.full(3, 1e150), 2.0, 0), Z),
    "overflowed in a loop inside": ("def f(x: f64[n], s: f64, k: i64) -> f64:\n    for i in at.loop(n, checkpoint=2):\n        j = 0\n        while j < k:\n            j = j + 1\n            s = s * 0.1 + x[0]\n        for q in range(n):\n            x = [v * x[0] for v in x]\n    return s", (np.full(3, 1e150), 2.0, 0), Z),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_unread_is_zero(name: str) -> None:
    text, args, expected = PROGRAMS[name]
    g = at.grad(at.fn(source=HEAD + text + "\n"))
    np.testing.assert_array_equal(g.interpret(*args), expected)
    np.testing.assert_array_equal(g(*args), expected)


def test_taken_is_infinite() -> None:
    """A slope that is infinite where the value is read is infinite."""
    f = at.fn(source=HEAD + "def f(x: f64, y: f64) -> f64:\n    r = sqrt(x)\n    return (r if y > 0.0 else y) + (r * y if y > 1.0 else y)\n")
    assert at.grad(f)(0.0, 0.5) == np.inf
