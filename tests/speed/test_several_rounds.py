"""Several rounds of an elimination at a time: it happens, every bit stays, and rounds that read too much are left alone."""

import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i32
from atoll.loops import profit
from atoll.loops.choices import USUAL
from atoll.runtime.program import Program
from bench.kernels.linalg import lu
from tests.agreement import for_all_threads
from tests.speed.test_in_pieces import in_any_order

n, m = at.sizes("n m")
rng = np.random.default_rng(21)
SAID = "rounds of p at a time"


@at.fn
def factors(A: f32[n, n]) -> f32[n, n]:
    for p in range(n):
        for i in range(p + 1, n):
            f = A[i, p] / A[p, p]
            for j in range(p + 1, n):
                A[i, j] = A[i, j] - f * A[p, j]
    return A


@at.fn
def lower(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        d = sqrt(A[p, p])
        for i in range(p, n):
            A[i, p] = A[i, p] / d
        for i in range(p + 1, n):
            for j in range(p + 1, i + 1):
                A[i, j] = A[i, j] - A[i, p] * A[j, p]
    return A


@at.fn
def wrapping(A: i32[n, n], w: i32[n]) -> (i32[n, n], i32):
    last: i32 = 1
    for p in range(n):
        last = last * 3 + A[p, p]
        for i in range(p + 1, n):
            A[i, p + 1 :] = [A[i, j] * 5 + A[i, p] * A[p, j] * w[p] - w[j] for j in range(p + 1, n)]
    return A, last


@at.fn
def twice(A: f64[2, n, n]) -> f64[2, n, n]:
    for b in range(2):
        for p in range(n):
            for i in range(p + 1, n):
                A[b, i, p + 1 :] = [A[b, i, j] - A[b, i, p] * A[b, p, j] * 0.25 for j in range(p + 1, n)]
    return A


@at.fn
def up(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        A[p, p] = A[p, p] + A[p + 1, p]
        A[p + 1 :, p + 1 :] = [[A[i, j] - A[i, p] * A[p, j] * 0.25 for j in range(p + 1, n + 1)] for i in range(p + 1, n + 1)]
    return A


@at.fn
def pivoted(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        best = p
        for i in range(p + 1, n):
            if abs(A[i, p]) > abs(A[best, p]):
                best = i
        A[p], A[best] = A[best], A[p]
        for i in range(p + 1, n):
            A[i, p + 1 :] = [A[i, j] - A[i, p] * A[p, j] / A[p, p] for j in range(p + 1, n)]
    return A


@at.fn
def corner(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        for i in range(p + 1, n + 1):
            for j in range(p + 1, n + 1):
                A[i, j] = A[i, j] - A[i, p] * A[p, j] * 0.25 + A[n, n] * 0.01
    return A


@at.fn
def last_column(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        for i in range(p, n):
            A[i, p] = A[i, p] * 0.5 + A[i, n] * 0.25
        for i in range(p + 1, n + 1):
            A[i, p + 1 :] = [A[i, j] - A[i, p] * A[p, j] * 0.25 for j in range(p + 1, n + 1)]
    return A


@at.fn
def written_again(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        for i in range(n + 1):
            A[i, 0] = A[i, 0] * 0.5 + 1.0
        for i in range(p + 1, n + 1):
            A[i, p + 1 :] = [A[i, j] - A[i, 0] * A[p, j] * 0.25 for j in range(p + 1, n + 1)]
    return A


@at.fn
def row_written_again(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        for i in range(p + 1, n + 1):
            for j in range(p + 1, n + 1):
                A[i, j] = A[i, j] - A[i, p] * A[p + 1, p] * 0.25 - A[0, j] * 0.5
        A[0, p] = A[0, p] * 0.5
    return A


@at.fn
def grows(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        for i in range(p):
            for j in range(p):
                A[i, j] = A[i, j] - A[i, p] * A[p, j] * 0.25
    return A


@at.fn
def everything(A: f64[n, n], x: f64[n]) -> f64[n, n]:
    for p in range(n):
        for i in range(n):
            for j in range(n):
                A[i, j] = A[i, j] * 0.5 + x[p]
    return A


@at.fn
def other_array(A: f64[n, n], x: f64[n]) -> (f64[n, n], f64[n]):
    for p in range(n):
        for i in range(n):
            x[i] = x[i] * 0.5 + A[i, p]
        for i in range(p + 1, n):
            A[i, p + 1 :] = [A[i, j] - x[i] * A[p, j] * 0.25 for j in range(p + 1, n)]
    return A, x


def matrix(size):
    return rng.standard_normal((size, size)) / 4 + 2 * np.eye(size)


def positive(size):
    a = matrix(size)
    return a @ a.T + np.eye(size)


SHRINK = {
    "lu": (lu, lambda s: (matrix(s),)),
    "factors": (factors, lambda s: (matrix(s).astype("f4"),)),
    "lower": (lower, lambda s: (positive(s),)),
    "wrapping": (wrapping, lambda s: (rng.integers(-(2**31), 2**31, (s, s), dtype="i4"), rng.integers(-(2**31), 2**31, s, dtype="i4"))),
    "twice": (twice, lambda s: (np.stack([matrix(s), matrix(s)]),)),
    "up": (up, lambda s: (matrix(s + 1),)),
}
LEFT = {
    "pivoted": (pivoted, lambda s: (matrix(s),)),
    "corner": (corner, lambda s: (matrix(s + 1),)),
    "last_column": (last_column, lambda s: (matrix(s + 1),)),
    "written_again": (written_again, lambda s: (matrix(s + 1),)),
    "row_written_again": (row_written_again, lambda s: (matrix(s + 1),)),
    "grows": (grows, lambda s: (matrix(s),)),
    "everything": (everything, lambda s: (matrix(s), rng.standard_normal(s))),
    "other_array": (other_array, lambda s: (matrix(s), rng.standard_normal(s))),
}
CASES = {**SHRINK, **LEFT}


@pytest.mark.parametrize("name", SHRINK)
def test_it_happens(name):
    assert SAID in SHRINK[name][0].explain("schedule")


@pytest.mark.parametrize("name", LEFT)
def test_left_alone(name):
    assert SAID not in LEFT[name][0].explain("schedule")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name, monkeypatch):
    monkeypatch.setattr(profit, "ELIMINATION_ROWS", 1)
    f, data = CASES[name]
    in_any_order(f, *(data(size) for size in (0, 1, 2, 3, 4, 5, 9)))


@pytest.mark.parametrize("name", SHRINK)
def test_every_bit_stays(name):
    f, data = SHRINK[name]
    for size in (33, 230):
        args = data(size)
        plain = Program(f.core, f._arguments, choices=dataclasses.replace(USUAL, rounds=1, pieces=False)).call(*args)
        found = for_all_threads(f, *args)
        for a, b in zip(found if isinstance(found, tuple) else (found,), plain if isinstance(plain, tuple) else (plain,), strict=True):
            assert np.array_equal(a, b)


def test_other_numbers_of_rounds():
    A = matrix(61)
    expected = lu(A)
    for rounds in (2, 3):
        assert np.array_equal(Program(lu.core, lu._arguments, choices=dataclasses.replace(USUAL, rounds=rounds)).call(A), expected)


def test_what_is_no_number_spreads_as_it_did():
    A = matrix(50)
    A[7, 7], A[20, 3] = np.nan, np.inf
    plain = Program(lu.core, lu._arguments, choices=dataclasses.replace(USUAL, rounds=1, pieces=False)).call(A)
    assert np.array_equal(lu(A), plain, equal_nan=True)


def generated(seed: int):
    """An elimination that starts somewhere, after something, and reads some places more, inside what is updated or outside."""
    pick = np.random.default_rng(seed)
    top, left = (str(pick.choice(["p + 1", "p + 2", "p"])) for _ in range(2))
    if pick.random() < 0.6:
        top = left = "p + 1"
    reads = ["x[i, p]", "x[p, j]", "x[p, p]", "x[0, j]", "x[i, 0]", "x[i, n]", "x[n, j]", "x[j, p]", "x[p + 1, j]", "x[i, p + 1]", "x[p, i]", "w[j]"]
    first = [pick.choice(reads[:2]), pick.choice(reads)] if pick.random() < 0.7 else [pick.choice(reads), pick.choice(reads)]
    before = [
        "",
        "x[p, p] = x[p, p] * 3",
        "for i in range(p + 1, n):\n            x[i, p] = x[i, p] + x[p, p]",
        "for i in range(p + 1, n):\n            x[p, i] = x[p, i] - x[p + 1, p]",
        "for i in range(n):\n            x[i, p] = x[i, p] + x[i, p + 1]",
        "for i in range(n):\n            w[i] = w[i] + x[i, p]",
        "x[n, n] = x[p, p]",
        "for i in range(n + 1):\n            x[i, 0] = x[i, 0] - 7",
        "for i in range(n + 1):\n            x[0, i] = x[0, i] - 7",
        "t = t * 3 + x[p, p]",
        "t = t * 3 + x[p + 1, p + 1]",
    ]
    d = str(pick.choice(before))
    if d in before[-4:-2] and pick.random() < 0.8:
        first = ["x[i, 0]", "x[0, j]"]
    more = " + t" if pick.random() < 0.15 else ""
    stop = str(pick.choice(["n", "n + 1", "i + 1"]))
    return at.fn(
        source=f"""
import atoll as at
n = at.sizes("n")
def generated(x: at.i64[n + 2, n + 2], w: at.i64[n + 2]):
    t = 1
    for p in range(n):
        {d or "pass"}
        for i in range({top}, n + 1):
            for j in range({left}, {stop}):
                x[i, j] = x[i, j] * 3 - {first[0]} * {first[1]}{more}
    return x, w, t
"""
    )


@pytest.mark.parametrize("part", range(4))
def test_rounds_that_may_meet(part, monkeypatch):
    monkeypatch.setattr(profit, "ELIMINATION_ROWS", 1)
    for seed in range(12 * part, 12 * part + 12):
        in_any_order(generated(seed), *((rng.integers(-9, 9, (size + 2, size + 2)), rng.integers(-9, 9, size + 2)) for size in (2, 5)))


def test_some_of_them_are_done_together():
    said = [SAID in generated(seed).explain("schedule") for seed in range(20)]
    assert 2 <= sum(said) <= 18
