"""What stands in a loop or an array is not run when there are no rounds, though it depends on none of them: neither checks nor endless loops."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = 'import atoll as at\nfrom atoll import f64, i64\nn, k = at.sizes("n k")\n'
SUM = "@at.fn\ndef g(a: f64[n]) -> f64:\n    s = 0.0\n    for v in a:\n        s += a[i64(v)]\n    return s\n"
SAID = "@at.fn\ndef g(a: f64[n]) -> f64:\n    s = 0.0\n    for v in a:\n        print(v)\n        s += v\n    return s\n"

# what has one round too many for an array with the element 7
PROGRAMS = {
    "a fold in a loop": "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    for i in range(k):\n        x += fold(lambda s, v: s + a[i64(v)], 0.0, a)\n    return x\n",
    "a fold in an array": "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    return x + sum([fold(lambda s, v: s + a[i64(v)], 0.0, a) for i in range(k)])\n",
    "a loop in an array": SUM + "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    return x + sum([g(a) for i in range(k)])\n",
    "a loop in a loop": SUM + "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    for i in range(k):\n        x += g(a)\n    return x\n",
    "a loop in a while": SUM + "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    while x < f64(k):\n        x += g(a)\n    return x\n",
    "an endless while": "@at.fn\ndef f(x: f64, a: f64[n], k: i64) -> f64:\n    for i in range(k):\n        y = 1.0\n        while y > 0.0:\n            y = y * 2.0\n        x += y\n    return x\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_round_no_check(name: str) -> None:
    f = at.fn(source=HEAD + PROGRAMS[name])
    arguments = 1.0, np.array([7.0]), 0
    assert f(*arguments) == f.interpret(*arguments) == 1.0
    assert at.grad(f)(*arguments) == 1.0


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "endless" not in name])
def test_a_round_is_checked(name: str) -> None:
    f = at.fn(source=HEAD + PROGRAMS[name])
    with pytest.raises(IndexError):
        f(1.0, np.array([7.0]), 2)


@pytest.mark.parametrize("body", ["return [g(a) for i in range(k)]", "s = a[0]\n    for i in range(k):\n        s += g(a)\n    return s"])
def test_what_prints_does_so_in_every_round(body: str, capfd: pytest.CaptureFixture[str]) -> None:
    f = at.fn(source=f"{HEAD}{SAID}@at.fn\ndef f(a: f64[n], k: i64):\n    {body}\n")
    f(np.array([7.0]), 3)
    assert capfd.readouterr().out.split() == ["7.0"] * 3
