"""Loops in order whose rounds are independent become pieces; rounds that meet do not; results are the same bits for any number of threads."""

import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops.choices import USUAL
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from atoll.runtime.arguments import from_python
from atoll.runtime.program import Program
from bench.kernels.linalg import cholesky, lu
from tests.agreement import agree, flat, for_all_threads, same

n, m = at.sizes("n m")
rng = np.random.default_rng(12)
SAID = "in pieces for threads"


@at.fn
def smooth_rows(A: f64[n, m + 2], rounds: i64) -> f64[n, m + 2]:
    for t in range(rounds):
        for i in range(n):
            A[i, 1:-1] = [A[i, j] + A[i, j + 1] * 0.5 + A[i, j + 2] for j in range(m)]
    return A


@at.fn
def triangle(A: f64[n, n]) -> f64[n, n]:
    for i in range(n):
        for j in range(i):
            A[i, j] = A[i, j] * 0.5 + A[i, i]
    return A


@at.fn
def by_columns(A: f64[n, m]) -> f64[n, m]:
    for j in range(m):
        s = 0.0
        for i in range(n):
            s = s * 0.5 + A[i, j]
            A[i, j] = s
    return A


@at.fn
def row_before(A: f64[n, m]) -> f64[n, m]:
    for i in range(1, n):
        A[i] = [A[i, j] + A[i - 1, j] * 0.5 for j in range(m)]
    return A


@at.fn
def first_row(A: f64[n, m]) -> f64[n, m]:
    for i in range(n):
        A[i] = [A[i, j] - A[0, j] for j in range(m)]
    return A


@at.fn
def one_row(A: f64[n, m], x: f64[m]) -> f64[m]:
    for i in range(n):
        x[:] = [x[j] * 0.5 + A[i, j] for j in range(m)]
    return x


@at.fn
def carried(A: f64[n, m]) -> (f64[n, m], f64):
    s = 0.0
    for i in range(n):
        for j in range(m):
            A[i, j] = A[i, j] + s
            s = A[i, j] * 0.25
    return A, s


@at.fn
def chosen(A: f64[n, m], k: at.idx[n][n]) -> f64[n, m]:
    for i in range(n):
        for j in range(m):
            A[k[i], j] = A[k[i], j] * 0.5 + 1.0
    return A


@at.fn
def mirrored(A: f64[n, n]) -> f64[n, n]:
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + A[j, i] * 0.5
    return A


@at.fn
def corner(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        for i in range(p, n):
            for j in range(p, n):
                A[i, j] = A[i, j] - A[i, p] * A[p, j]
    return A


@at.fn
def told(A: f64[n, m]) -> f64[n, m]:
    for i in range(n):
        for j in range(m):
            A[i, j] = A[i, j] + 1.0
        print("row", i)
    return A


def dominant(size):
    return rng.standard_normal((size, size)) + 2 * size * np.eye(size)


def positive(size):
    a = rng.standard_normal((size, size))
    return a @ a.T + size * np.eye(size)


def matrix(size, columns=None):
    return rng.standard_normal((size, columns or size + 3)) / 2


APART = {
    "lu": (lu, lambda s: (dominant(s),)),
    "cholesky": (cholesky, lambda s: (positive(s),)),
    "smooth_rows": (smooth_rows, lambda s: (matrix(s), 3)),
    "triangle": (triangle, lambda s: (matrix(s, s),)),
}
MEET = {
    "row_before": (row_before, lambda s: (matrix(s),)),
    "first_row": (first_row, lambda s: (matrix(s),)),
    "one_row": (one_row, lambda s: (matrix(s, 7), matrix(7, 7)[0])),
    "carried": (carried, lambda s: (matrix(s),)),
    "chosen": (chosen, lambda s: (matrix(s), rng.integers(0, s, s))),
    "mirrored": (mirrored, lambda s: (matrix(s, s),)),
    "corner": (corner, lambda s: (matrix(s, s) / s,)),
}
CASES = {**APART, **MEET, "by_columns": (by_columns, lambda s: (matrix(s),))}


def in_any_order(f, *cases):
    """The loops that are compiled give what the interpreter gives, with independent rounds from the first to the last and back."""
    loops = compiled_loops(f.core)
    for args in cases:
        wanted = tuple(flat(f.interpret(*args)))
        given = from_python(f.core, f._arguments(args, {}))
        sizes, inputs = bind_call(f.core, given), [leaf for x in given for leaf in leaves(x)]
        for piece, backwards in ((1, True), (3, False), (3, True)):
            same(tuple(execute(loops, inputs, sizes, piece, backwards)), wanted, f"pieces of {piece}{', backwards' if backwards else ''}")


@pytest.mark.parametrize("name", APART)
def test_it_happens(name):
    assert SAID in APART[name][0].explain("schedule")


@pytest.mark.parametrize("f", [f for f, _ in MEET.values()] + [told], ids=lambda f: f.name)
def test_rounds_that_meet_stay_in_order(f):
    assert SAID not in f.explain("schedule")


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    f, data = CASES[name]
    for size in (1, 2, 3, 5):
        agree(f, *data(size))
    in_any_order(f, *(data(size) for size in (1, 2, 3, 5)))


def test_nothing_at_all():
    for f in (lu, cholesky, triangle, mirrored):
        assert f(np.zeros((0, 0))).shape == (0, 0)
    assert smooth_rows(np.zeros((0, 2)), 4).shape == (0, 2) and smooth_rows(np.ones((3, 2)), 4).tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("name", CASES)
def test_every_bit_stays(name):
    f, data = CASES[name]
    args = data(600 if f is cholesky else 203)  # its columns are short sums, which need more of them to be worth threads
    plain = Program(f.core, f._arguments, choices=dataclasses.replace(USUAL, pieces=False)).call(*args)
    found = for_all_threads(f, *args)
    assert all(np.array_equal(a, b) for a, b in zip(flat(found), flat(plain), strict=True))


def test_the_row_of_a_piece_is_its_own():
    """Rounds of different pieces use the row they fill at the same time."""
    A = matrix(400, 1502)
    expected = A.copy()
    for _ in range(3):
        expected[:, 1:-1] = expected[:, :-2] + expected[:, 1:-1] * 0.5 + expected[:, 2:]
    assert np.array_equal(for_all_threads(smooth_rows, A, 3), expected)


def generated(seed: int):
    """for p, for i, for j: x[row, column] from x at places that sometimes meet those of other rounds."""
    pick = np.random.default_rng(seed)
    rows = ["i", "i + p", "n - 1 - i", "2 * i", "i + 1"]
    columns = ["j", "j + p", "p", "j + n", "2 * j + 1", "i"]

    def place(near: str) -> str:
        row = near if pick.random() < 0.6 else str(pick.choice([*rows, "p", "0"]))
        return f"x[{row}, {pick.choice(columns)}]"

    row = str(pick.choice(rows))
    stop = str(pick.choice(["n", "i", "n - p"]))
    first = f"x[{row}, {pick.choice(columns[:2])}]"
    second = "" if pick.random() < 0.5 else f"\n                {place(row)} = x[{row}, j] - 2"
    return at.fn(
        source=f"""
import atoll as at
n = at.sizes("n")
def generated(x: at.i64[2 * n + 2, 2 * n + 2]):
    for p in range(n):
        for i in range(n - {pick.choice(["0", "p"])}):
            for j in range({stop}):
                {first} = {place(row)} * 3 - {place(row)} + 5{second}
    return x
"""
    )


@pytest.mark.parametrize("part", range(4))
def test_places_that_may_meet(part):
    for seed in range(15 * part, 15 * part + 15):
        in_any_order(generated(seed), (rng.integers(-9, 9, (8, 8)),))


def test_some_of_them_are_in_pieces():
    said = [SAID in generated(seed).explain("schedule") for seed in range(24)]
    assert 2 <= sum(said) <= 22
