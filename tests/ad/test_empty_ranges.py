"""Ranges that end before they begin have no rounds, not minus some: what the reverse sweep keeps for loops after them is found again."""

from __future__ import annotations

import pytest

from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], a: f64[n, n]):\n"

ROUNDS = {
    "branch": "    for i in range(n):\n        if i % 3 == 2:\n            continue\n        a[0] = a[0] * x\n        for j in range({}):\n            for k in range(n):\n                a[k] = sin(a[0]) * x\n        a[i] = a[i] * a[0]\n    return a\n",
    "two loops": "    for i in range(n):\n        for j in range({}):\n            a[i] = tanh(a[j % n]) * x\n        for j in range(i):\n            a[j] = a[i] * a[j]\n    return a\n",
    "one place": "    for i in range(n):\n        for j in range({}):\n            x[j % n] = sin(x[i])\n        x[i] = x[i] * a[i, 0]\n        for j in range({}):\n            x[(j + 1) % n] = x[j % n] * x[i]\n    return x\n",
    "inside": "    for i in range(n):\n        for j in range({}):\n            for k in range({}):\n                x[k % n] = sin(x[j % n] * x[i])\n        x[i] = x[i] * x[0]\n    return x\n",
    "while": "    for i in range(n):\n        k = 0\n        while k < i + 1:\n            for j in range({}):\n                a[j % n] = a[k] * x\n            a[k] = sin(a[k]) * x[i]\n            k += 1\n    return a\n",
    "break": "    s = 0.5\n    for i in range(n):\n        for j in range({}):\n            if x[i] > 0.7:\n                break\n            s = tanh(s * x[j % n])\n        x[i] = s * x[i]\n    return x\n",
}
RANGES = ("1, n - 1", "3, n - 1", "n, 2", "i + 2, n", "5, 2")


@pytest.mark.parametrize("r", RANGES)
@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_that_are_none(name: str, r: str) -> None:
    """Both modes by the normal form are the interpreter's, and adjoint to each other."""
    for n in (0, 1, 3):
        found = check(HEAD + ROUNDS[name].replace("{}", r), 7, {"n": n, "m": 0}, ("ainf",))
        assert not found.refused and found.failure is None, (n, found)


AT_ONCE = {
    "vector": "    for i in at.loop(n, checkpoint=C):\n        for j in range(i + 2, n - 1):\n            x[j] = x[j] * x[i] + a[j, i]\n        x[i] = sin(x[i])\n    return x\n",
    "row": "    for i in at.loop(n, checkpoint=C):\n        for j in range(i + 2, n - 1):\n            a[i, j] = a[i, j] * x[i] + x[j]\n        a[i, 0] = sin(a[0, i])\n    return a\n",
    "two updates": "    for i in at.loop(n, checkpoint=C):\n        for j in range(i + 3, n):\n            x[j] = sin(x[j])\n        for j in range(2, n - i):\n            x[j] = x[j] * a[j, i]\n        x[i] = x[i] * a[i, 0]\n    return x\n",
    "beside a loop": "    for i in at.loop(n, checkpoint=C):\n        for j in range(i + 2, n - 1):\n            x[j] = x[j] * x[i] + a[j, i]\n        for j in range(i):\n            x[j] = x[j] * x[j + 1]\n    return x\n",
}


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("name", AT_ONCE)
def test_updates_of_no_places(name: str, depth: int) -> None:
    """Loops that are one update of all their places: n - i - 3 of them, or none."""
    for n in (1, 4):
        found = check(HEAD + AT_ONCE[name].replace("C", str(depth)), 3, {"n": n, "m": 0}, ("ainf",))
        assert not found.refused and found.failure is None, (n, found)
