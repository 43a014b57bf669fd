"""Python's words around control flow: tuples compared and sorted, sorts by several keys and in reverse, ranges with any step, chained iterators,
defaults and keywords of local functions, texts. Against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree
from tests.oracle import in_python

HEAD = "import atoll as at\nfrom atoll import i64, f64, bool_\nn = at.sizes('n')\n@at.fn\ndef f(m: bool_[n], a: i64[n], b: i64[n]):\n"

PROGRAMS = {
    "tuples compared": "    return [(x, y) < (y, x) for x, y in zip(a, b)], [(x, y) == (y, x) for x, y in zip(a, b)], [(x, 1, y) >= (y, 1, x) for x, y in zip(a, b)]",
    "tuples of other lengths": "    return [(x, y) < (x, y, 1) for x, y in zip(a, b)], [(x, y) != (x,) for x, y in zip(a, b)]",
    "nested tuples": "    return [((x, y), x) <= ((y, x), y) for x, y in zip(a, b)]",
    "least pair": "    best = (100, 100)\n    for x, y in zip(a, b):\n        if (x, y) < best:\n            best = (x, y)\n    return best[0], best[1]",
    "reverse": "    return sort(a, reverse=True), sorted(a, reverse=False), argsort(a, reverse=True)",
    "reverse of data": "    return sort(a, reverse=n % 2 == 0)",
    "two keys": "    return argsort(a, key=lambda x: (x % 3, -x)), sort(b, key=lambda x: (x % 2, x))",
    "two keys reversed": "    return argsort(a, key=lambda x: (x % 3, x % 2), reverse=True)",
    "pairs sorted": "    p = sort([(x % 3, y) for x, y in zip(a, b)])\n    return [x for x, y in p], [y for x, y in p]",
    "any step": "    s = 0\n    for k in range(1, 6):\n        for i in range(0, n, k):\n            s = s * 3 % 1000 + a[i]\n        for i in range(n - 1, -1, -k):\n            s = s * 5 % 1000 + a[i]\n    return s",
    "step in a sum": "    return [sum(a[i] for i in range(k, n, k + 1)) for k in range(n)]",
    "iterators in each other": "    s = 0\n    for i, (x, y) in enumerate(zip(reversed(a), b)):\n        s += (i + 1) * x - y\n    return s, sum(x * y for x, y in zip(a, reversed(b))), [i + x for i, x in enumerate(reversed(a))]",
    "enumerate from": "    return [i * x for i, x in enumerate(a, start=3)], max((x for i, x in enumerate(b) if i % 2 == 0), default=0)",
    "characters": "    digits = 0\n    for x in a:\n        c = x + ord('5')\n        if ord('0') <= c <= ord('9'):\n            digits = digits * 10 + (c - ord('0'))\n    return digits, [ord(' ') < x + 30 for x in b]",
    "defaults and keywords": "    def g(x: i64, by: i64 = 2, plus: i64 = 1):\n        return x * by + plus\n    return [g(x) for x in a], [g(x, plus=5) for x in a], [g(plus=x, by=3, x=1) for x in b]",
}  # fmt: skip


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.5, g.integers(0, 9, size), g.integers(0, 9, size)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_in_python(name: str) -> None:
    text = HEAD + PROGRAMS[name] + "\n"
    f, reference = at.fn(source=text), in_python(text, "f")
    for size in (0, 1, 2, 3, 5, 8, 20):
        args = arguments(size)
        reference.__globals__["n"] = size
        expected = reference(*args)
        value = agree(f, *args, compiled=size in (3, 20))
        for x, y in zip(value, expected, strict=True) if isinstance(expected, tuple) else [(value, expected)]:
            assert np.array_equal(x, np.asarray(y).reshape(np.shape(x))), (name, size, x, y)


def test_a_character_is_a_weak_number() -> None:
    f = at.fn(source="import atoll as at\nfrom atoll import u8\nn = at.sizes('n')\n@at.fn\ndef f(x: u8[n]):\n    x[0] = ord('a')\n    return x, x == ord('b')\n")
    x, same = f.interpret(np.frombuffer(b"bba", np.uint8))
    assert x.tobytes() == b"aba" and x.dtype == np.uint8 and same.tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["ord('ab')", "ord('')", "ord(a[0])"])
def test_only_a_literal_character_has_a_number(text: str) -> None:
    with pytest.raises(at.Error, match="not one literal character"):
        at.fn(source=f"{HEAD}    return {text}\n")
