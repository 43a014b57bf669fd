"""Rows that a loop makes are made where they are kept (loops/recipes/in_rows.py), and only where nobody can tell."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops.show import show
from atoll.lower.make import compiled_loops
from tests.agreement import agree, same

n, m = at.sizes("n m")
rng = np.random.default_rng(7)
SAID = "is made where all of them are kept"


@at.fn
def settled(a: f64[n, m], rounds: i64) -> f64[n, m]:
    def settle(row):
        x = [2.0 * v for v in row]
        for t in range(rounds):
            for j in range(1, m):
                x[m - 1 - j] += x[m - j] * 0.25
        return x

    return [settle(row) for row in a]


@at.fn
def turned(a: f64[n, m]) -> (f64[n, m, 3], f64[n, m, 3]):
    """Two tables for each row, changed together."""

    def turn(row):
        x = [[v + k for k in range(3)] for v in row]
        y = [[v - k for k in range(3)] for v in row]
        for level in range(2):
            for j in range(m):
                for k in range(3):
                    x[j, k], y[j, k] = x[j, k] - y[m - 1 - j, k], y[j, k] + x[m - 1 - j, k]
        return x, y

    return unzip([turn(row) for row in a])


@at.fn
def guarded(a: f64[n, m], places: i64[m]) -> f64[n, m]:
    """Reads that can fail, in rounds that are many."""

    def mix(row):
        x = [v for v in row]
        for t in range(3):
            for p in places:
                x[p] += 1.0
        return x

    return [mix(row) for row in a]


@at.fn
def used_twice(a: f64[n, m]) -> (f64[n, m], f64[n]):
    """The last state is also summed."""

    def mix(row):
        x = [v for v in row]
        for t in range(3):
            for j in range(1, m):
                x[j] += x[j - 1] * x[m - 1 - j]
        return x, sum(x)

    return unzip([mix(row) for row in a])


@at.fn
def counted(a: f64[n, m], rounds: i64) -> f64[n, m]:
    """A condition decides when to stop."""

    def mix(row):
        x = [v for v in row]
        t = 0
        while t < rounds:
            for j in range(m):
                x[j] += x[m - 1 - j]
            t += 1
        return x

    return [mix(row) for row in a]


@at.fn
def in_order(a: f64[n, m]) -> f64[n, m]:
    """A row needs the one before: those are read where the next one is made."""
    table = [[0.0 for j in range(m)] for i in range(n)]
    for i in range(1, n):
        row = [a[i, j] + table[i - 1, j] for j in range(m)]
        for t in range(2):
            for j in range(1, m):
                row[j] += row[j - 1] * 0.5
        table[i] = row
    return table


SIZES = [(0, 3), (1, 1), (2, 4), (5, 7), (3, 0), (18, 17)]


@pytest.mark.parametrize("f", [settled, turned, guarded, used_twice, counted, in_order], ids=lambda f: f.name)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values(f, size):
    rows, columns = size
    args = [rng.random((rows, columns))]
    if f in (settled, counted):
        args.append(3)
    if f is guarded:
        args.append(rng.integers(0, max(columns, 1), columns))
    if size == SIZES[-1]:  # more rows than one vector: for the compiled program; in Python this is slow
        same(f(*args), f.interpret(*args))
    else:
        agree(f, *args)


@pytest.mark.parametrize("f", [turned, guarded, counted], ids=lambda f: f.name)
def test_nothing_is_copied(f):
    assert SAID in f.explain("schedule")
    assert "_state" not in show(compiled_loops(f.core))
    assert not [u for u in f.memory() if u.kind != "result" and "loop" in u.reason], f.memory()


def test_a_failure_is_told_as_before():
    with pytest.raises(at.RunError, match="E0701"):
        guarded(np.ones((2, 3)), np.array([0, 1, 3]))


@at.fn
def shifted(a: f64[n, m], by: i64) -> f64[n, m]:
    """Whether there is a place for the row is known only after it is made."""
    table = [[0.0 for j in range(m)] for i in range(n)]
    for i in range(n):
        row = [a[i, j] for j in range(m)]
        for t in range(2):
            for j in range(1, m):
                row[j] += row[j - 1] * row[m - 1 - j]
        table[i + by] = row
    return table


def test_a_place_that_is_checked_later_is_not_written_before():
    assert SAID not in shifted.explain("schedule")
    agree(shifted, rng.random((3, 4)), 0)
    with pytest.raises(at.RunError, match="E0701"):
        shifted(np.ones((3, 4)), 1)


def test_what_is_read_elsewhere_stays_beside():
    """`table` is read where the row is made, so the row has memory of its own."""
    assert SAID not in in_order.explain("schedule")
