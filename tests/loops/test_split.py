"""Ranges cut into blocks: a range without rounds has none of them, whatever it is cut by."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops.questions import told
from atoll.loops.transform.split import may_be_negative
from atoll.sizes import Sym, poly
from tests.agreement import agree

n, m, k = at.sizes("n m k")


@at.fn
def single(a: f64[n, n], b: f64[n, n], x: f64[n]):
    for i in range(4, n):
        b[i, 0] = sum(a[i, r] * x[r] for r in range(n))
    return b


@at.fn
def below(a: f64[n, n], b: f64[n, n], x: f64[n]):
    for j in range(n):
        for i in range(j + 2, n):
            b[i, j] = sum(a[i, r] * x[r] for r in range(n))
    return b


@at.fn
def gram(a: f64[n, n], b: f64[n, n], x: f64[n]):
    for j in range(n):
        for i in range(j + 2, n):
            b[i, j] = a[i, j] - sum(a[i, r] * a[j, r] for r in range(j))
    return b


def in_python(name: str, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    b, size = b.copy(), len(x)
    if name == "single":
        for i in range(4, size):
            b[i, 0] = sum(a[i, r] * x[r] for r in range(size))
    for j in range(size if name != "single" else 0):
        for i in range(j + 2, size):
            b[i, j] = sum(a[i, r] * x[r] for r in range(size)) if name == "below" else a[i, j] - sum(a[i, r] * a[j, r] for r in range(j))
    return b


@pytest.mark.parametrize("f", [single, below, gram], ids=["single", "below", "gram"])
def test_rows_that_do_not_exist(f) -> None:
    """Four rows at a time: floor division made -1 blocks of an empty range, and wrote before the array."""
    for size in (0, 1, 2, 3, 4, 5, 6, 18):
        a, b, x = np.arange(1.0, size * size + 1).reshape(size, size), np.zeros((size, size)), np.ones(size)
        np.testing.assert_allclose(f(a, b, x), in_python(f.core.name, a, b, x))


@at.fn
def quotient(a: f64[n, m], c: f64[n], x: f64[m]):
    """The length of the range is a quotient whose numerator may be negative."""
    for i in range((n - 30) // 4):
        c[i] = sum(a[i, r] * x[r] for r in range(m))
    return c


def test_a_quotient_less_than_none() -> None:
    for size in (0, 1, 29, 30, 34, 70):
        a, c, x = np.arange(3.0 * size).reshape(size, 3), np.ones(size), np.ones(3)
        rows = max(0, (size - 30) // 4)
        agree(quotient, a, c, x, expected=np.concatenate([a[:rows].sum(axis=1), c[rows:]]))


def test_what_may_be_negative() -> None:
    i, high, low, size = Sym("i"), Sym("i_hi"), Sym("i_lo"), poly(Sym("n"))
    assert not may_be_negative(size + i) and not may_be_negative(size // 4) and not may_be_negative(poly(3))
    assert may_be_negative(size - 4) and may_be_negative(size - i) and may_be_negative((size - 9) // 2) and may_be_negative(poly(-1))
    from atoll.loops import ir as lp
    from atoll.types.dtypes import I64

    assert may_be_negative(poly(lp.Var("v", I64).atom))
    piece = lp.Chunks(low, high, size, poly(1), [])
    assert may_be_negative(poly(high) - poly(low)) and not may_be_negative(poly(high) - poly(low), told(piece))


BOUNDS = {
    "an element": "abs(x[j % n]) % 4",
    "a sum": "sum(abs(x[p % n]) % 2 for p in range(j + 1))",
    "the least": "min(abs(x[p % n]) % 3 for p in range(j + 1))",
    "the greatest": "max(abs(x[p % n]) % 3 for p in range(j + 1))",
    "a product": "prod(abs(x[p % n]) % 2 + 1 for p in range(j % 3))",
    "a place": "argmin([abs(x[p % n]) % 3 for p in range(j + 1)])",
    "how many": "len([p for p in range(j + 1) if x[p % n] > 0])",
    "a choice": "(abs(x[j % n]) % 4 if y[(j + 1) % n] > 0 else 2)",
}


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("kept", ["sum(sum({inner}) for j in range(m) if y[j % n] > 0)", "[sum({inner}) if y[j % n] > 0 else 0 for j in range(m)]"], ids=["filter", "choice"])
def test_a_length_that_is_not_there(bound: str, kept: str) -> None:
    """A length made only where a condition holds was read in every round: memory that nobody wrote was the bound of a loop."""
    inner = f"sum(x[(q + p) % n] for q in range(abs(x[p % n]) % 3)) for p in range({bound})"
    text = f"import atoll as at\nfrom atoll import i64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: i64[n], y: i64[n], m: i64):\n    return {kept.format(inner=inner)}\n"
    f = at.fn(source=text)
    rng = np.random.default_rng(5)
    for size, rounds in ((1, 3), (2, 3), (3, 7)):
        for y in (np.full(size, -1), rng.integers(-3, 4, size), np.full(size, 1)):
            agree(f, rng.integers(-10, 11, size), y, np.int64(rounds))


@at.fn
def either(x: i64[n], y: i64[m], k: i64):
    return [x[k % n] if n > 0 else y[i] for i in range(m)], [(x[argmin(x)] if k > 0 else y[i]) if n > 0 else 3 for i in range(m)]


def test_a_remainder_of_nothing() -> None:
    """k % n is an index of x only where n is not 0."""
    for size in (0, 1, 3):
        for rounds in (0, 1, 4):
            for number in (-1, 0, 2):
                agree(either, np.arange(size) + 5, np.arange(rounds) - 7, np.int64(number))


@at.fn
def shorter_rows(a: f64[n, n]):
    return [[a[i, j] for j in range(1, n)] for i in range(n)]


def test_no_rows_of_a_length_less_than_none() -> None:
    """Found by the rows of tiles: the n - 1 columns of no rows were taken for a size that only running tells."""
    for size in (0, 1, 2, 5):
        a = np.arange(float(size * size)).reshape(size, size)
        found = shorter_rows(a)
        assert found.shape == (size, max(0, size - 1)) and np.array_equal(found, a[:, 1:])
