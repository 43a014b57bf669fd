"""An array that is made in a branch, and goes through a loop there together with one that was there before.

The loop is one that has rounds only if the branch is taken, and after it the array from before is there in any case; the one that the branch made is not. Whatever is computed from it
stays in the branch: where it is not taken, memory holds anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = """
import atoll as at
from atoll import f64, i64
n = at.sizes("n")

@at.fn
def f(y: f64[n], k: i64, c: i64):
    out = 0.0
    if c > 0:
        s = cumsum([k + j for j in range(4)])
"""
LOOPS = {
    "for": "        for j in range(3):\n            s[j] += j\n            y[j % n] += 1.0\n",
    "for in a branch": "        if k > 0:\n            for j in range(3):\n                s[j] += j\n                y[j % n] += 1.0\n",
    "while": "        j = 0\n        while j < k:\n            s ^= 1\n            y[j % n] = 2.0\n            j += 1\n",
    "for with a while": "        for i in range(2):\n            j = i\n            while j < 3:\n                s[j] += y[0] > 1.0\n                y[j % n] += f64(s[i] % 5)\n                j += 1\n",
    "one after another": "        for j in range(3):\n            s[j] += j\n            y[j % n] += 1.0\n        for j in range(3):\n            s[j + 1] -= s[j]\n            y[j % n] -= 1.0\n",
}
USES = {
    "a value": "        out = f64(s[3] % 7)\n",
    "rounds": "        for i in range(s[1]):\n            out += y[i % n]\n",
    "rounds of a while": "        i = 0\n        while i < s[2] % 50:\n            i += 1\n            out += 1.0\n",
    "an index": "        out = y[s[2] % n]\n",
    "an index that is checked": "        assert 0 <= s[0] < n\n        out = y[s[0]]\n",
    "a size": "        out = sum(full(at.size(s[1] % 9), 2.0))\n",
    "a sum": "        out = sum(f64(s[j] * s[j]) for j in range(4) if s[j] != 2)\n",
    "a divisor": "        out = f64(100 // (s[3] % 4 + 1))\n",
    "a test": "        if s[0] > 3:\n            out = y[0]\n        else:\n            out = y[n - 1]\n",
    "a loop": "        for i in range(3):\n            s[i] += 1\n            out += f64(s[i])\n",
    "a loop in a branch of it": "        if s[0] > 3:\n            for j in range(3):\n                s[j] += 1\n                y[j % n] = 0.0\n        out = f64(s[1])\n",
    "an update": "        y[s[1] % n] = 9.0\n",
}


def python(x: Any, k: int, c: int, body: str) -> Any:
    given: dict[str, Any] = {"cumsum": np.cumsum, "f64": float, "full": np.full, "sum": sum, "range": range}
    text = "def f(y, k, c):\n    n = len(y)\n" + (HEAD + body).split("c: i64):\n")[1].replace("at.size(", "(")
    exec(text + "    return y, out\n", given)  # noqa: S102  the text is our own
    return given["f"](x, k, c)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("loop", LOOPS)
def test_what_a_branch_made(loop: str, use: str) -> None:
    body = LOOPS[loop] + USES[use]
    f = at.fn(source=HEAD + body + "    return y, out\n")
    for c in (0, 1):
        for k in (0, 2):
            x = np.arange(5.0) + 1.0
            y, out = python(x.copy(), k, c, body)
            agree(f, x, k, c, expected=(y, float(out)), compiled=loop == "for" or use == "a value")


@pytest.mark.parametrize("loop", LOOPS)
def test_its_derivative(loop: str) -> None:
    text = (HEAD + LOOPS[loop]).replace("cumsum([k + j for j in range(4)])", "cumsum([y[0] * j for j in range(4)])").replace("s ^= 1", "s *= y[1]").replace("s[i] % 5", "s[i]")
    f = at.fn(source=text + "        out = s[3] * s[2]\n    return sum(y * y) + out\n")
    x, dx = np.arange(5.0) * 0.3 + 0.4, np.cos(np.arange(5.0))
    for c in (0, 1):
        slope = (f.interpret(x + 1e-6 * dx, 2, c) - f.interpret(x - 1e-6 * dx, 2, c)) / 2e-6
        for run in (at.grad(f).interpret, at.grad(f)):
            found = run(x, 2, c)
            assert np.isclose(np.sum(np.asarray(found[0] if isinstance(found, tuple) else found) * dx), slope, rtol=1e-5)
