"""What the condition of a `while` needs runs before it is known whether there is a round: it changes nothing that the loop leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import i64

n = at.sizes("n")


@at.fn
def until_it_divides(a: i64[n], k: i64):
    q = 0
    while q < k and sum(a) % 7 != 0:
        q += 1
        a[1:] = (a[1:] + a[1:]) % 101
    return a, q


@at.fn
def until_it_is_small(a: i64[n], k: i64):
    q = 0
    while q < k and sum(a) % 7 != 0:
        q += 1
        a = (a * 3 + 1) % 101
    return a, q


@at.fn
def asks_by_changing(a: i64[n], k: i64):
    def with_five(a: i64[n]):
        a[0] = 5
        return sum(a)

    q = 0
    while q < k and with_five(a) % 7 != 0:
        a[n - 1] += 1
        q += 1
    return a, q


@at.fn
def asks_only(a: i64[n], k: i64):
    def with_five(a: i64[n]):
        a[0] = 5
        return sum(a)

    q = 0
    while q < k and with_five(a) % 7 != 0:
        q += 1
    return a, q


@at.fn
def asks_in_a_loop(a: i64[n], k: i64):
    def doubled(a: i64[n], q: i64):
        for i in range(n):
            a[i] = a[i] * 2 + q
        return sum(a)

    q = 0
    while (s := doubled(a, q)) % 7 != 0 and q < k:
        a[q % n] = s % 50
        q += 1
    return a, q


def with_five(a: Any) -> int:
    return int(np.concatenate([[5], a[1:]]).sum())


def _by_hand(test: Callable[[Any, int, int], bool], step: Callable[[Any, int], Any], a: Any, k: int) -> tuple[Any, int]:
    q = 0
    while test(a, q, k):
        a, q = step(a, q), q + 1
    return a, q


def _put(a: Any, at: int, value: int) -> Any:
    a = a.copy()
    a[at] = value
    return a


CASES = [
    (until_it_divides, lambda a, q, k: q < k and a.sum() % 7 != 0, lambda a, q: np.concatenate([a[:1], 2 * a[1:] % 101])),
    (until_it_is_small, lambda a, q, k: q < k and a.sum() % 7 != 0, lambda a, q: (a * 3 + 1) % 101),
    (asks_by_changing, lambda a, q, k: q < k and with_five(a) % 7 != 0, lambda a, q: _put(a, len(a) - 1, a[-1] + 1)),
    (asks_only, lambda a, q, k: q < k and with_five(a) % 7 != 0, lambda a, q: a),
    (asks_in_a_loop, lambda a, q, k: (2 * a + q).sum() % 7 != 0 and q < k, lambda a, q: _put(a, q % len(a), (2 * a + q).sum() % 50)),
]


@pytest.mark.parametrize(("f", "test", "step"), CASES, ids=[f.__name__ for f, *_ in CASES])
@pytest.mark.parametrize("size", [1, 2, 3, 8, 17])
def test_a_round_that_the_condition_ends_changes_nothing(f: Any, test: Any, step: Any, size: int) -> None:
    for seed in range(8):
        given = np.random.default_rng(seed).integers(0, 20, size)
        for k in range(5):
            expected, rounds = _by_hand(test, step, given, k)
            found, q = f(given, k)
            np.testing.assert_array_equal(found, expected)
            assert q == rounds


def test_a_copy_for_the_condition_is_told() -> None:
    assert "condition" in str(asks_by_changing.memory())
