"""a, b = b, a in a loop exchanges memory: no copy of an array in a round, and the values are those of the interpreter for every number of rounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree
from tests.control.count import growth

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n"

# name: (text, whether no round copies an array)
SHAPES: dict[str, tuple[str, bool]] = {
    "two buffers": ("    for r in range(rounds):\n        for i in range(1, n - 1):\n            b[i] = 0.5 * (a[i - 1] + a[i + 1])\n        a, b = b, a\n    return a\n", True),
    "an update after": ("    for r in range(rounds):\n        a, b = b, a\n        a[r % n] = a[r % n] + b[0]\n    return a\n", True),
    "updates of both after": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] + 1.0\n        b[n - 1] = a[0]\n    return sum(a) + 2.0 * a[0]\n", True),
    "the other is returned": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] * 0.5 + b[0]\n    return b\n", True),
    "neither is returned": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] * 0.5 + b[0]\n    return sum(a), sum(b) * 3.0\n", True),
    "both are returned": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] * 0.5 + b[0]\n    return a, b\n", True),
    "one returned, the other read after": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] * 0.5 + b[0]\n    return a, sum(b)\n", True),
    "three levels": ("    for r in range(rounds):\n        c = [a[i] + 0.1 * b[n - 1 - i] for i in range(n)]\n        b, a = a, c\n    return a\n", True),
    "three levels, the older one returned": ("    for r in range(rounds):\n        c = [a[i] + 0.1 * b[n - 1 - i] for i in range(n)]\n        b, a = a, c\n    return b\n", True),
    "three go round": ("    c = a * 2.0\n    for r in range(rounds):\n        a, b, c = b, c, a\n        a[0] = a[0] + c[0]\n    return a\n", True),
    "three go the other way": ("    c = a * 2.0\n    for r in range(rounds):\n        a, b, c = c, a, b\n        c[0] = c[0] + b[n - 1]\n    return sum(a) + 2.0 * sum(b) + 4.0 * sum(c)\n", True),
    "one becomes the other": ("    for r in range(rounds):\n        a[r % n] = a[r % n] + 1.0\n        b = a\n        a[0] = a[0] * 0.5\n    return b, a[0]\n", False),
    "twice in a round": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] + 1.0\n        a, b = b, a\n        a[0] = a[0] + 2.0\n    return a\n", True),
    "a while": ("    k = 0\n    while k < rounds:\n        a, b = b, a\n        a[k % n] = a[k % n] + b[0]\n        k += 1\n    return a\n", True),
    "under a condition": ("    for r in range(rounds):\n        if r % 3 != 1:\n            a, b = b, a\n        a[0] = a[0] + 1.0\n    return a\n", False),
    "left in the middle": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] + 1.0\n        if a[0] > 4.0:\n            break\n    return a\n", False),
    "inside another loop": ("    for r in range(rounds):\n        for q in range(3):\n            a, b = b, a\n            a[q % n] = a[q % n] + b[0]\n        a[0] = a[0] * 0.25\n    return a\n", False),
    "many rounds inside another loop": (
        "    for q in range(3):\n        for r in range(rounds):\n            a, b = b, a\n            a[r % n] = a[r % n] + b[0]\n        a[0] = a[0] * 0.25\n    return a, b\n",
        False,
    ),
    "rounds in a branch": (
        "    for i in range(n):\n        if a[i] > 0.4:\n            for r in range(rounds):\n                a[(i + r) % n] = b[i] + r\n                a, b = b, a\n"
        "        else:\n            b[i] = a[i] - 1.0\n    return a, b\n",
        False,
    ),
    "rounds in a branch, arrays made anew": (
        "    for i in range(n):\n        if b[i] > 0.4:\n            for r in range(rounds % 3):\n                a = b\n                a[0] = b[i] * 0.5\n                b = [0.5 * (v + b[i]) for v in b]\n"
        "        else:\n            b[0] = a[i] - 0.25\n    return a, b\n",
        False,
    ),
    "in a loop that exchanges too": (
        "    for q in range(3):\n        for r in range(rounds):\n            a, b = b, a\n            a[r % n] = a[r % n] + b[0]\n        a, b = b, a\n    return a, b[0]\n",
        False,
    ),
    "for every row": (
        "    def one(p, q):\n        for r in range(rounds):\n            p, q = q, p\n            p[r % n] = p[r % n] * 0.5 + q[0]\n        return p, q\n"
        "    return [one(a * k, b) for k in range(3)]\n",
        True,
    ),
    "two loops": ("    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] + 1.0\n    for r in range(rounds):\n        a, b = b, a\n        a[0] = a[0] * 0.5\n    return a\n", True),
    "in a helper": ("    def step(p, q):\n        q[0] = p[0] + q[0] * 0.5\n        return q, p\n    for r in range(rounds):\n        a, b = step(a, b)\n    return a\n", True),
    "no other loop state is touched": ("    s = 0.0\n    for r in range(rounds):\n        a, b = b, a\n        s += a[0]\n        a[0] = s\n    return a, s\n", True),
}


def made(name: str) -> Any:
    return at.fn(source=f"{HEAD}def f(a: f64[n], b: f64[n], rounds: i64):\n{SHAPES[name][0]}")


@pytest.mark.parametrize("name", SHAPES)
def test_values(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = made(name)
        for n in (1, 2, 5):
            for rounds in (0, 1, 2, 3, 4, 7):
                rng = np.random.default_rng(n)
                agree(f, rng.random(n), rng.random(n), rounds)


@pytest.mark.parametrize("name", [name for name, (_, free) in SHAPES.items() if free])
def test_no_round_copies(name: str) -> None:
    assert "every round" not in str(made(name).memory())


@pytest.mark.parametrize("name", ["two buffers", "three levels", "three go round", "an update after"])
def test_derivatives(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f, rng = made(name), np.random.default_rng(0)
        a, b, d = rng.random(5), rng.random(5), rng.random(5)
        for rounds in (0, 1, 4):
            value, tangent = at.jvp2(f, (a, b, rounds), (d, d, 0))
            ga, gb, *_ = at.vjp(f, (a, b, rounds), np.ones(5))
            assert np.isclose(ga @ d + gb @ d, tangent.sum()), (rounds, value)


# a round writes a few elements, so the bytes of all rounds grow as their number does
CHEAP = [
    "an update after", "updates of both after", "the other is returned", "neither is returned", "both are returned", "one returned, the other read after", "three go round",
    "three go the other way", "twice in a round", "a while", "two loops", "in a helper", "no other loop state is touched", "for every row", "many rounds inside another loop",
]  # fmt: skip


@pytest.mark.parametrize("name", CHEAP)
def test_rounds_cost_what_they_write(name: str) -> None:
    def arguments(size: int) -> tuple[Any, ...]:
        return np.ones(size), np.zeros(size), size

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert max(growth(made(name), arguments, (32, 64, 128))) < 2.6
