"""`match` on bools, tuples and records: complete when every combination is named, and then the last case needs no test."""

import itertools

import pytest

import atoll as at
from atoll import i64


@at.record
class Flagged:
    flag: at.bool_
    number: i64


@at.record
class Nothing:
    pass


Maybe = Flagged | Nothing


@at.fn
def number(x: at.bool_, y: at.bool_) -> i64:
    match (x, y):
        case (True, True):
            return 3
        case (True, False):
            return 2
        case (False, True):
            return 1
        case (False, False):
            return 0


@at.fn
def signed(flag: at.bool_, k: i64) -> i64:
    match Flagged(flag, k):
        case Flagged(True, 0) | Flagged(False, 0):
            return 100
        case Flagged(True, j):
            return j
        case Flagged(False, number=j):
            return -j


@at.fn
def size(m: Maybe) -> i64:
    match m:
        case Flagged(True, k):
            return k
        case Flagged(False, k):
            return -k
        case Nothing():
            return 0


@at.fn
def through(flag: at.bool_, k: i64) -> i64:
    return size(Flagged(flag, k)) + size(Nothing())


@pytest.mark.parametrize(("x", "y"), list(itertools.product([True, False], repeat=2)))
def test_all_combinations(x, y):
    assert number(x, y) == number.interpret(x, y) == 2 * x + y
    k = 7 if y else 0
    assert signed(x, k) == signed.interpret(x, k) == (100 if k == 0 else k if x else -k)
    assert through(x, k) == through.interpret(x, k) == (k if x else -k)
