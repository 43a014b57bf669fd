"""Tests that read memory an update changes between them."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import i64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def twice(b: at.bool_[n], p: i64[n]):
    if b[0]:
        b[0] = False
    if b[0]:
        p[1] = 7
    return b, p


@at.fn
def nested(b: at.bool_[n], p: i64[n]):
    if b[0]:
        b[0] = False
        if b[0]:
            p[1] = 7
        else:
            p[1] = 8
    return b, p


@at.fn
def numbers(p: i64[n]):
    if p[0] > 0:
        p[0] = -1
    if p[0] > 0:
        p[1] = 7
    return p


@at.fn
def loop(b: at.bool_[n], steps: i64):
    count = 0
    if b[0]:
        for i in range(steps):
            if b[0]:
                count += 1
                b[0] = i % 2 == 1
            b[1] = b[0]
    if b[0]:
        count += 100
    return b, count


def test_tests_see_the_value_of_their_time() -> None:
    for first in (True, False):
        b, p = np.array([first, True, False]), np.array([3 if first else -3, 2, 1])
        agree(twice, b, p, expected=(np.array([False, True, False]), p))
        agree(nested, b, p, expected=(np.array([False, True, False]), np.array([p[0], 8 if first else 2, 1])))
        agree(numbers, p, expected=np.array([-1 if first else -3, 2, 1]))
        for steps in (0, 1, 2, 5):
            agree(loop, b, np.int64(steps))



SIEVE = """
from __future__ import annotations
import atoll as at
from atoll import i64

@at.fn
def sieve(limit: i64) -> at.bool_[limit]:
    prime = [i > 1 for i in range(limit)]
    for i in range(2, limit):
        if prime[i]:
            j = i * i
            while j < limit:
                prime[j] = False
                j += i
    return prime
"""


def test_a_while_loop_in_a_branch_updates_in_place() -> None:
    sieve = at.fn(source=SIEVE)
    for limit in (0, 1, 2, 3, 50):
        expected = np.array([k > 1 and all(k % q for q in range(2, k)) for k in range(limit)], dtype=bool)
        agree(sieve, np.int64(limit), expected=expected)
    assert "copy" not in sieve.show("loops") and "alloc" not in sieve.show("loops")


@at.fn
def two_arrays(a: i64[n], b: i64[n]):
    for i in range(n):
        a[i] = a[i] + b[i]
        b[i] = i
    for i in range(n):
        b[i] = b[i] * 2
        a[0] += b[i]
    return a, b


def test_every_array_of_a_loop_can_be_updated_after_it() -> None:
    x, y = np.array([3, 1, 2]), np.array([5, 6, 7])
    agree(two_arrays, x, y, expected=(np.array([8 + 0 + 2 + 4, 7, 9]), np.array([0, 2, 4])))
    assert "alloc" not in two_arrays.show("loops")


def test_what_only_the_condition_reads():
    """A flag that is set before a while loop and in its body, and read by nothing but its condition."""

    @at.fn
    def rounds(a: i64) -> i64:
        s = 0
        done = False
        while not done:
            s += 1
            done = s > a
        return s

    @at.fn
    def bubble(x: f64[n]) -> f64[n]:
        changed = True
        while changed:
            changed = False
            for i in range(n - 1):
                if x[i] > x[i + 1]:
                    x[i], x[i + 1] = x[i + 1], x[i]
                    changed = True
        return x

    @at.fn
    def last(x: i64, y: i64) -> i64:
        count = 0
        while x > 10:
            x = y
            y -= 3
            count += 1
        return count

    for a in range(4):
        assert rounds(a) == rounds.interpret(a) == a + 1
    for values in ([], [3.0], [2.0, 3.0, 1.0, 0.0, 5.0]):
        agree(bubble, np.array(values), expected=np.sort(values))
    agree(last, 30, 20, expected=np.int64(5))
