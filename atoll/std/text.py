"""Strings of bytes: u8[n] where the length is part of the type, Bytes where it is the value's own (in lists, in records)."""

from __future__ import annotations

import atoll as at
from atoll import i64, u8
from atoll.std.lists import Cons, List, Nil

n, m = at.sizes("n m")
k = at.some("k")


@at.record
class Bytes:
    """A string of bytes of any length."""

    data: u8[k]


@at.fn
def equal(x: u8[n], y: u8[m]) -> at.bool_:
    """The same bytes."""
    if n != m:
        return False
    same = True
    for i in range(n):
        same = same and x[i] == y[i]
    return same


@at.fn
def digits(x: i64) -> List[u8]:
    """A number in decimal, as the bytes of its digits."""
    if x < 0:
        return Cons(u8(45), positive_digits(0 - x, Nil()))
    return positive_digits(x, Nil())


@at.fn
def positive_digits(x: i64, after: List[u8]) -> List[u8]:
    """The digits of a number that is not negative, then `after`."""
    more: List[u8] = Cons(u8(48 + x % 10), after)
    return more if x < 10 else positive_digits(x // 10, more)


@at.fn
def parse_number(x: u8[n], start: i64) -> (i64, i64):
    """The decimal number that starts at a place, and the place after it; no digit there gives 0 and the same place."""
    sign = 1
    i = start
    if i < n and x[i] == 45:
        sign = -1
        i = i + 1
    total = 0
    while i < n and x[i] >= 48 and x[i] <= 57:
        total = 10 * total + i64(x[i]) - 48
        i = i + 1
    return sign * total, i


@at.fn
def split(x: u8[n], at_byte: u8) -> List[Bytes]:
    """The pieces between occurrences of a byte."""
    pieces: List[Bytes] = Nil()
    end = n
    for j in range(n):
        i = n - 1 - j
        if x[i] == at_byte:
            pieces = Cons(Bytes(x[i + 1 : end]), pieces)
            end = i
    return Cons(Bytes(x[:end]), pieces)
