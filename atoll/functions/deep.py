"""Recursion without Python's stack: passes recurse over nests of any depth (a chain of 25 000 joins is an ordinary program).

A recursive function is written as a generator that yields the calls it makes and is sent their results:

>>> def depth(n):
...     if n == 0:
...         return 0
...     return 1 + (yield depth(n - 1))
>>> run(depth(100_000))
100000
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")
Deep = Generator[Any, Any, T]


def run(start: Deep[T]) -> T:
    """The value a generator returns, its yields run the same way."""
    stack: list[Deep[Any]] = [start]
    value: Any = None
    while True:
        try:
            inner = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            if not stack:
                return value  # type: ignore[no-any-return]
        else:
            stack.append(inner)
            value = None
