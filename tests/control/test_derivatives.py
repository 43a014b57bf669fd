"""Derivatives of loops that branch, are left and update in place: reverse mode against forward mode and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages

HEAD = "import atoll as at\nfrom atoll import i64, f64, bool_\nn = at.sizes('n')\n@at.fn\ndef f(m: bool_[n], x: f64[n]) -> f64:\n"

PROGRAMS = {
    "if in if": "    for i in range(n):\n        if m[i]:\n            if i > 0 and m[i - 1]:\n                x[i] = x[i - 1] * x[i]\n            else:\n                x[i] = sin(x[i])\n        elif i > 2:\n            x[i] = x[i - 2] + x[i]\n    return sum(x * x)",
    "for in if": "    for i in range(n):\n        if m[i]:\n            c = x[i]\n            for j in range(2):\n                x[(i + j) % n] *= c + j\n    return sum(x * x)",
    "while in if": "    for i in range(n):\n        if m[i]:\n            if i % 2 == 0:\n                c = x[i] * 0.5\n                j = i\n                while j < n and j < i + 3:\n                    x[j] = x[j] * c + 0.1\n                    j += 1\n            elif i > 1:\n                x[i], x[i - 1] = x[i - 1] * x[i], x[i]\n    return sum(x * x)",
    "rebuilt in a branch": "    for i in range(n):\n        if m[i]:\n            s = 0.3\n            for j in range(i % 3):\n                s = s + x[j] * 0.2\n                x[i] = x[i] * s\n            x[0] = s * x[n - 1]\n        elif i % 3 == 0:\n            x = [v * 0.9 for v in x]\n    return sum(x * x)",
    "break": "    s = 0.0\n    for i in range(n):\n        if i > 4:\n            break\n        x[i] = x[i] * x[i] + s\n        s += sin(x[i])\n    return s * x[0]",
    "continue": "    s = 1.0\n    for i in range(n):\n        if m[i]:\n            continue\n        s *= x[i]\n        x[i] = s\n    return sum(x) + s",
    "return": "    s = 0.0\n    for i in range(n):\n        s += x[i] * x[i]\n        if s > 1.2:\n            return s * x[i]\n        x[i] += s\n    return sum(x)",
    "nested, with else": "    s = 0.5\n    for i in range(n):\n        for j in range(i + 1):\n            if m[j] and j > 1:\n                break\n            s = s * 0.9 + x[j] * x[i]\n        else:\n            s += x[i]\n        if s > 9.0:\n            return s\n        x[i] = s * 0.1\n    return s + sum(x)",
    "any step": "    s = 0.0\n    for k in range(1, 4):\n        for i in range(0, n, k):\n            s += x[i] * k * s + x[i]\n    return s",
    "arrays change places": "    y = sin(x)\n    for i in range(n):\n        if m[i]:\n            x, y = y, x\n            x[i] = y[i] * x[i]\n        elif i > 2:\n            y[i] = x[i - 1] * y[i] + x[i]\n        else:\n            x, y = y, x\n    return sum(x * x * y)",
    "and a loop is left": "    y = sin(x)\n    for i in range(n):\n        x, y = y, x\n        if i > 4 or m[i] and i > 3:\n            break\n        x[i] = y[i] * x[i] + x[0]\n    return sum(x * x * y)",
    "by two keys": "    y = sort(x, key=lambda v: (v > 0.7, -v))\n    return sum(y[i] * (i + 1) for i in range(n))",
}  # fmt: skip


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_reverse_and_forward(name: str) -> None:
    f = at.fn(source=HEAD + PROGRAMS[name] + "\n")
    g = at.grad(f, wrt="x")
    for size in (1, 2, 3, 6, 9):
        rng = np.random.default_rng(size)
        m, x = rng.random(size) < 0.5, rng.random(size) * 0.5 + 0.5
        found: Any = agree(g, m, x, compiled=size == 6 and name in ("return", "while in if"))
        step = 1e-6
        slopes = [(f.interpret(m, x + step * e) - f.interpret(m, x - step * e)) / (2 * step) for e in np.eye(size)]
        np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6, err_msg=f"{name} at {size}")
        forward = [at.jvp(f, (m, x), (np.zeros(size, bool), e))  for e in np.eye(size)] if size == 3 else None
        if forward is not None:
            np.testing.assert_allclose(found, forward, rtol=1e-9, err_msg=f"{name} at {size}, forward")
    stages.cache_clear()
