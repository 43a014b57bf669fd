"""Arrays that change places in branches, and in loops that are left: nothing is copied for it, and the results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages
from tests.control.count import growth
from tests.control.exchanging import hold
from tests.oracle import in_python

HEAD = """import atoll as at
from atoll import i64, bool_
n = at.sizes("n")
@at.fn
def f(m: bool_[n], a: i64[n], b: i64[n]):
"""

PROGRAMS = {
    "rotate": """
    c = zeros(n, dtype=i64)
    for i in range(n):
        if m[i]:
            a, b, c = b, c, a
        a[i] = b[i] + 1
    return a, b, c
""",
    "rotate else": """
    c = zeros(n, dtype=i64)
    for i in range(n):
        if m[i]:
            a, b, c = b, c, a
            a[i] += 1
        elif a[i] > 3:
            a, b, c = c, a, b
            c[i] += 1
        else:
            b, c = c, b
        a[i] = b[i] + 1
    return a, b, c
""",
    "several pairs": """
    c = a + 1
    d = b * 2
    for i in range(n):
        if m[i]:
            a, b = b, a
            c, d = d, c
        else:
            a, d = d, a
        a[i] = b[i] + d[i]
    return a, b, c, d
""",
    "break": """
    for i in range(n):
        if a[i] + b[i] > 15:
            break
        a, b = b, a
        a[i] = b[i] + 1
    return a, b
""",
    "break after": """
    for i in range(n):
        a, b = b, a
        if a[i] + b[i] > 15:
            break
        a[i] = b[i] + 1
    return a, b
""",
    "continue": """
    for i in range(n):
        if m[i]:
            continue
        a, b = b, a
        a[i] = b[i] + 1
    return a, b
""",
    "return": """
    for i in range(n):
        if m[i]:
            a, b = b, a
        a[i] = b[i] + 1
        if a[i] > 9 and i > 2:
            return b, a
    return a, b
""",
    "one result": """
    for i in range(n):
        if m[i]:
            a, b = b, a
        a[i] = b[i] + 1
    return a
""",
    "a loop in a branch": """
    for i in range(n):
        if m[i]:
            for j in range(3):
                a, b = b, a
                a[j % n] = b[i]
    return a, b
""",
    "in a branch of a loop in a branch": """
    if n > 2:
        for i in range(n):
            if m[i]:
                a, b = b, a
            a[i] = b[0]
    return a, b
""",
    "in a loop in a branch": """
    if n > 2:
        for i in range(n):
            a, b = b, a
            a[i] = b[0]
    return a, b
""",
    "while": """
    i = 0
    while i < n:
        if m[i]:
            a, b = b, a
            i += 1
        else:
            a[i] = b[i] + 2
            i += 2
    return a, b
""",
    "while for": """
    t = 0
    while t < n:
        for j in range(2):
            if m[(t + j) % n]:
                a, b = b, a
            a[(t+j) % n] += 1
        t += 1
    return a, b
""",
    "in a helper": """
    def pair(x: i64[n], y: i64[n], c: bool_):
        if c:
            return y, x
        return x, y
    for i in range(n):
        a, b = pair(a, b, m[i])
        a[i] = b[i] + 1
    return a, b
""",
    "by a conditional expression": """
    for i in range(n):
        a, b = (b, a) if m[i] else (a, b)
        a[i] = b[i] + 1
    return a, b
""",
    "three arrays, by pairs": """
    c = zeros(n, dtype=i64)
    for i in range(n):
        if m[i]:
            a, b = b, a
        else:
            c, a = a, c
        c[i] = a[i] + b[i]
    return a, b, c
""",
    "nested branch": """
    for i in range(n):
        if m[i]:
            if a[i] > 3:
                a, b = b, a
            else:
                a[i] = 7
            b[i] = a[i]
        else:
            a, b = b, a
    return a, b
""",
    "in loops one after another": """
    for i in range(n):
        if m[i]:
            a, b = b, a
    for i in range(n):
        if b[i] > 2:
            a, b = b, a
        b[i] += 1
    return a, b
""",
    "an element is kept": """
    for i in range(n):
        if m[i]:
            old = a[i]
            a, b = b, a
            b[i] = old + 1
    return a, b
""",
    "with a sum": """
    s = 0
    for i in range(n):
        if m[i]:
            a, b = b, a
        s += a[i] * 2 + b[n - 1 - i]
        a[i] = s % 7
    return a, s
""",
    "match": """
    for i in range(n):
        match a[i] % 3:
            case 0:
                a, b = b, a
            case 1:
                a[i] = 2
            case _:
                a, b = b, a
                b[i] = 1
    return a, b
""",
}


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.6, g.integers(0, 9, size), g.integers(0, 9, size)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_right_and_nothing_is_copied(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    f, reference = at.fn(source=text), in_python(text, "f")
    for size in (0, 1, 2, 3, 8, 17):
        reference.__globals__["n"] = size
        expected = reference(*arguments(size))
        if isinstance(expected, tuple):
            expected = tuple(np.int64(x) if isinstance(x, int) else x for x in expected)
        agree(f, *arguments(size), expected=expected, compiled=list(PROGRAMS).index(name) % 5 == 0)
    assert max(growth(f, arguments, (32, 64, 128))) < 2.6
    assert "every round" not in str(f.memory()) and "rounds that come" not in str(f.memory())
    stages.cache_clear()


def test_an_array_that_goes_on_twice_is_copied_in_rounds_that_come_to_it() -> None:
    f = at.fn(source=HEAD + "    for i in range(n):\n        if m[i]:\n            a, b = b, b\n        a[i] = b[i] + 1\n    return a, b\n")
    assert "in rounds that come to it" in str(f.memory())
    agree(f, *arguments(9), compiled=False)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    """More of them: python -m tests.control.exchanging FIRST COUNT"""
    hold(seed, compiled=seed == 3)
