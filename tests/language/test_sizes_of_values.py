"""A size that a value decides, written twice, is one size: of the latest version of a name, and of what is computed from it."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "from __future__ import annotations\nimport atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n"
BODIES = {
    "a remainder": "c = c + 1; x[:c % (n + 1)] += 2.0",
    "a quotient": "c = c + 1; x[:c // n] += 2.0",
    "in a loop": "for i in range(3):\n        c = c + 1\n        x[:c % (n + 1)] += 2.0",
    "an array of that size": "for i in range(3):\n        c = c + 1\n        x[:c // n] += [1.0 for j in range(c // n)]",
    "both sides": "c = c * 2; x[:c // (n + 1)] = x[:c // (n + 1)] * 2.0",
    "two names": "c = c + 1; y = x[:c % (n + 1)]; z = x[:c % (n + 1)]; x[0] = sum(y * z)",
    "a while": "while c < 20:\n        c = c + 4\n        x[:c % (n + 1)] += 2.0",
    "elements": "x[:p[0]] += 2.0; x[p[1]:] = x[p[1]:] * 2.0; x[:p[0] + p[1] - 3] += 1.0",
    "an element that changes": "for i in range(2):\n        x[:p[i]] += 2.0\n        p[i] = 1\n        x[:p[i]] += 100.0",
    "a choice": "x[:(c if c < n else n)] += 2.0",
    "part of a tuple": "t = (c % 3, c); x[:t[0]] += 2.0",
    "in branches and after": "if c > 2:\n        x[:c % 4] += 1.0\n    else:\n        x[:c % 4] += 2.0\n    x[:c % 4] *= 2.0",
    "of a number": "x[:i64(f64(c) / 2.0)] += 1.0",
}


@pytest.mark.parametrize("what", BODIES)
def test_one_size(what: str):
    text = f"def f(x: f64[n], p: i64[m], c: i64) -> f64[n]:\n    {BODIES[what]}\n    return x\n"
    f = at.fn(source=HEAD + text)
    for c in (0, 3, 5):
        names = {"i64": int, "f64": float, "n": 5, "sum": np.sum}
        exec("from __future__ import annotations\n" + text, names)  # noqa: S102
        x, p = np.arange(1.0, 6.0), np.array([3, 1])
        expected = names["f"](x.copy(), p.copy(), c)  # type: ignore[operator]
        agree(f, x, p, c, expected=expected, compiled=what in ("in a loop", "elements"))
