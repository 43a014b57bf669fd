"""Gradients of loops that rebuild an array in one branch and update it in another: every pair of branches.

The adjoint of the one starts from an expression over the adjoint that the other clears. What starts from an expression over an array reads it whatever
its own condition says, so an update under the opposite condition must not take the array's memory before.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import f64, bool_\nn = at.sizes('n')\n@at.fn\ndef f(m: bool_[n], x: f64[n]) -> f64:\n"
FIRST = ["x[0] = x[0] * x[n - 1]", "for j in range(i % 3):\n                x[i] = x[i] * x[j] * 0.5\n            x[0] = x[i] * x[n - 1]"]
SECOND = ["x = [v * 0.9 for v in x]", "x = [v * x[0] for v in x]"]
OTHERWISE = ["elif i % 3 == 0", "else", "if m[i] and i % 2 == 0"]


@pytest.mark.parametrize(("first", "second", "otherwise"), list(itertools.product(FIRST, SECOND, OTHERWISE)))
def test_gradients_of_every_pair(first: str, second: str, otherwise: str) -> None:
    body = f"    for i in range(n):\n        if m[i]:\n            {first}\n        {otherwise}:\n            {second}\n    return sum(x * x)\n"
    g = at.grad(at.fn(source=HEAD + body), wrt="x")
    for size in (1, 3):
        for flags in itertools.product((False, True), repeat=size):
            agree(g, np.array(flags), np.linspace(0.6, 0.9, size), compiled=False)
