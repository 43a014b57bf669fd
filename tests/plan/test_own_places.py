"""New values that read their own place, or places no round writes, are stored where they are read; all others are computed first."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(8)


@at.fn
def eliminate(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        for i in range(p + 1, n):
            A[i, p + 1 :] = [A[i, j] - A[i, p] * A[p, j] for j in range(p + 1, n)]
    return A


@at.fn
def columns(A: f64[n, m]) -> f64[n, m]:
    for j in range(m):
        A[:, j + 1 :] = [[A[i, l] - A[i, j] * 0.5 for l in range(j + 1, m)] for i in range(n)]
    return A


@at.fn
def halves(x: i64[2 * n]) -> i64[2 * n]:
    x[n:] = [x[j + n] * 3 + x[j] for j in range(n)]
    return x


@at.fn
def neighbours(A: f64[n + 1, n + 1]) -> f64[n + 1, n + 1]:
    for p in range(n):
        A[p, 1:] = [A[p, j + 1] + A[p, j] for j in range(n)]
    return A


@at.fn
def other_row(A: f64[n + 1, n]) -> f64[n + 1, n]:
    for p in range(n):
        A[p : p + 2] = [[A[p + i, j] - A[p, j] for j in range(n)] for i in range(2)]
    return A


@at.fn
def same_column(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        A[:, p:] = [[A[i, j + p] - A[i, p] for j in range(n - p)] for i in range(n)]
    return A


@at.fn
def by_data(x: f64[n], k: at.idx[n][m]) -> f64[n]:
    for r in range(m):
        x[: n] = [x[i] + x[k[r]] for i in range(n)]
    return x


@at.fn
def again_and_again(x: f64[n], p: at.idx[n][m], rounds: i64) -> f64[n]:
    for r in range(rounds):
        x = scatter(x, p, [x[p[k]] for k in range(m)], op=add)
    return x


@at.fn
def turned(A: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        A[p:, p:] = [[A[i + p, j + p] + A[j + p, i + p] for j in range(n - p)] for i in range(n - p)]
    return A


IN_PLACE = [eliminate, columns, halves]
FIRST = [neighbours, other_row, same_column, turned]


@pytest.mark.parametrize("f", IN_PLACE, ids=lambda f: f.name)
def test_nothing_is_kept(f):
    assert not f.memory().temporaries


@pytest.mark.parametrize("f", FIRST, ids=lambda f: f.name)
def test_values_that_meet_are_computed_first(f):
    assert f.memory().temporaries


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 17])
def test_values(size):
    square = rng.standard_normal((size, size)) / 4
    for f in (eliminate, same_column, turned):
        agree(f, square)
    agree(columns, rng.standard_normal((size, 4)))
    agree(halves, rng.integers(-(2**62), 2**62, 2 * size))
    agree(neighbours, rng.standard_normal((size + 1, size + 1)))
    agree(other_row, rng.standard_normal((size + 1, size)))
    if size:
        agree(by_data, rng.standard_normal(size), rng.integers(0, size, 3))


def test_sums_into_one_place_read_the_old_value():
    x, p = np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])
    agree(again_and_again, x, p, 2, expected=np.array([9.0, 8.0, 3.0]))


def generated(seed: int):
    """x[a + i, b + j] = formula of x[c + i, d + j], x[e, g + j], x[h + i, l] for random offsets, some of which meet."""
    pick = np.random.default_rng(seed)
    a, b, c, d, e, g, h, k = (int(v) for v in pick.integers(0, 4, 8))
    c, d = (a, b) if pick.random() < 0.6 else (c, d)
    row, column = pick.choice(["", "p + "]), pick.choice(["", "p + "])
    tall, wide = pick.choice(["n", "n - p"]), pick.choice(["n", "n - p"])
    lead = (row if tall == "n - p" else ""), (column if wide == "n - p" else "")
    return at.fn(
        source=f"""
import atoll as at
n = at.sizes("n")
def generated(x: at.i64[n + 4, n + 4]):
    for p in range(n):
        x[{lead[0]}{a} : {lead[0]}{a} + {tall}, {lead[1]}{b} : {lead[1]}{b} + {wide}] = [
            [x[{lead[0]}i + {c}, {lead[1]}j + {d}] * 3 - x[{row}{e}, {lead[1]}j + {g}] + 5 * x[{lead[0]}i + {h}, {column}{k}] for j in range({wide})] for i in range({tall})]
    return x
"""
    )


@pytest.mark.parametrize("part", range(4))
def test_offsets_that_may_meet(part):
    for seed in range(12 * part, 12 * part + 12):
        f = generated(seed)
        for size in (1, 2, 5):
            agree(f, rng.integers(-9, 9, (size + 4, size + 4)), compiled=False)


def test_some_of_them_are_in_place():
    kept = [bool(generated(seed).memory().temporaries) for seed in range(48)]
    assert 4 <= sum(kept) <= 44
