"""Loops that look back at what earlier rounds made go several rounds at a time; values are those of the interpreter; what would read too early is left alone."""

import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll.loops.choices import USUAL
from atoll.runtime.program import Program
from bench.kernels.linalg import cholesky
from tests.agreement import flat, for_all_threads, same
from tests.speed.test_in_pieces import in_any_order, positive

rng = np.random.default_rng(9)
SAID = "sums over what earlier rounds made are shared"
HEAD = """
import atoll as at
from atoll import *
n, m, k = at.sizes("n m k")
"""
TEXTS = {
    "ldl": """
def ldl(A: T[n, n]) -> (T[n, n], T[n]):
    L = zeros((n, n))
    d = zeros(n)
    for j in range(n):
        d[j] = A[j, j] - sum(L[j, p] * L[j, p] * d[p] for p in range(j))
        L[j, j] = 1.0
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum(L[i, p] * L[j, p] * d[p] for p in range(j))) / d[j]
    return L, d
""",
    "crout": """
def crout(A: T[n, n]) -> (T[n, n], T[n, n]):
    L = zeros((n, n))
    U = zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            L[i, j] = A[i, j] - sum(L[i, p] * U[p, j] for p in range(j))
        U[j, j] = 1.0
        for i in range(j + 1, n):
            U[j, i] = (A[j, i] - sum(L[j, p] * U[p, i] for p in range(j))) / L[j, j]
    return L, U
""",
    "solves": """
def solves(L: T[n, n], B: T[n, m]) -> T[n, m]:
    X = zeros((n, m))
    for i in range(n):
        for c in range(m):
            X[i, c] = (B[i, c] - sum(L[i, p] * X[p, c] for p in range(i))) / L[i, i]
    return X
""",
    "solves_back": """
def solves_back(U: T[n, n], B: T[n, m]) -> T[n, m]:
    X = zeros((n, m))
    for i in reversed(range(n)):
        for c in range(m):
            X[i, c] = (B[i, c] - sum(U[i, p] * X[p, c] for p in range(i + 1, n))) / U[i, i]
    return X
""",
    "trmm": """
def trmm(A: T[n, n], B: T[n, m]) -> T[n, m]:
    for i in range(n):
        for j in range(m):
            B[i, j] = B[i, j] + sum(A[p, i] * B[p, j] for p in range(i + 1, n))
    return B
""",
    "syrk": """
def syrk(A: T[n, k], C: T[n, n]) -> T[n, n]:
    for i in range(n):
        for j in range(i + 1):
            C[i, j] = 0.5 * C[i, j] + sum(A[i, p] * A[j, p] for p in range(k))
    return C
""",
    "next_column": """
def next_column(A: T[n, n + 1]) -> T[n, n + 1]:
    for j in range(n):
        for i in range(j + 1, n):
            A[i, j + 1] = A[i, j] * 0.5 - sum(A[i, p] * A[j, p] for p in range(j + 1)) / 64
    return A
""",
}
REFUSED = {
    "own_row": """
def own_row(A: T[n, n]) -> T[n, n]:
    for j in range(n):
        for i in range(j, n):
            A[i, j] = A[i, j] - sum(A[i, p] * A[j, p] for p in range(j + 1))
    return A
""",
    "below": """
def below(A: T[n, n]) -> T[n, n]:
    for j in range(n - 1):
        for i in range(n - 1):
            A[i, j] = A[i, j] - sum(A[i + 1, p] * A[j, p] for p in range(j))
    return A
""",
    "norms": """
def norms(A: T[n, m]) -> T[n, m]:
    for j in range(m):
        norm = sqrt(1.0 + sum(A[i, j] * A[i, j] for i in range(n)))
        for i in range(n):
            A[i, j] = A[i, j] / norm - sum(A[i, p] * A[0, p] for p in range(j))
    return A
""",
    "told": """
def told(A: T[n, n]) -> T[n, n]:
    for j in range(n):
        for i in range(j + 1, n):
            print(i)
            A[i, j] = A[i, j] - sum(A[i, p] * A[j, p] for p in range(j))
    return A
""",
}


def make(text, kind="f64", **more):
    return at.fn(source=HEAD + text.replace("T[", f"{kind}["), **more)


def square(size):
    return positive(size) / max(size, 1)


def matrices(name, size, kind):
    second = {"solves": size + 2, "solves_back": 3, "trmm": 2 * size + 1}.get(name)
    made = [square(size)]
    if name == "syrk":
        made = [rng.standard_normal((size, 7)), square(size)]
    elif name == "next_column":
        made = [rng.standard_normal((size, size + 1))]
    elif second is not None:
        made.append(rng.standard_normal((size, second)))
    return tuple(x.astype(np.float32 if kind == "f32" else np.float64) for x in made)


@pytest.mark.parametrize("name", TEXTS)
def test_it_happens(name):
    assert SAID in make(TEXTS[name]).explain("schedule")


def test_cholesky():
    assert SAID in cholesky.explain("schedule")
    for size in (0, 1, 2, 3, 4, 5, 7, 8, 19, 37, 100):
        A = positive(size)
        same(cholesky(A), np.linalg.cholesky(A))
    in_any_order(cholesky, (positive(2),), (positive(18),))


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    f = make(REFUSED[name])
    assert SAID not in f.explain("schedule")
    if name != "told":
        for size in (1, 2, 7):
            A = square(size) / 4
            same(f(A), f.interpret(A))


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", TEXTS)
def test_values(name, kind):
    f = make(TEXTS[name], kind)
    for size in (0, 1, 3, 4, 5, 8, 18):
        args = matrices(name, size, kind)
        same(f(*args), f.interpret(*args))
    in_any_order(f, *(matrices(name, size, kind) for size in ((17,) if kind == "f64" else (5,))))


@pytest.mark.parametrize("name", TEXTS)
def test_from_left_to_right(name):
    """Every bit is the interpreter's where sums go from left to right."""
    f = make(TEXTS[name], reassociate=False)
    args = matrices(name, 19, "f64")
    assert all(np.array_equal(a, b) for a, b in zip(flat(f(*args)), flat(f.interpret(*args)), strict=True))


@pytest.mark.parametrize("name", ["ldl", "solves", "trmm", "syrk"])
def test_threads(name):
    f = make(TEXTS[name])
    args = matrices(name, 330, "f64")
    found = for_all_threads(f, *args)
    plain = Program(f.core, f._arguments, choices=dataclasses.replace(USUAL, left=1)).call(*args)
    assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(flat(found), flat(plain), strict=True))


def generated(seed: int):
    """for j:  something;  for i:  x[row, column] = ... sum over p of x[a, p] * x[b, p]:  places that sometimes meet."""
    pick = np.random.default_rng(seed)

    def one(*choices: str) -> str:
        return str(pick.choice(list(choices)))

    def line(row: str) -> str:
        return row if pick.random() < 0.7 else one("i", "i + 1", "j", "0", "n - 1 - i", "i + n")

    low, high = one("j + 1", "j + 1", "j", "0"), one("n", "n", "n + 1", "j + 1")
    row = one("i", "i", "i", "i + 1", "i + j - j")
    column = one("j", "j", "j", "j + 1", "2 * j", "0")
    stop = one("j", "j", "j", "n", "j + 1")
    term = one(f"x[{line('i')}, p] * x[{line('j')}, p]", f"x[p, {line('i')}] * y[{line('j')}, p]", f"y[{line('i')}, p] * x[{line('j')}, p]")
    written = f"x[{row}, {column}]" if "x[p" not in term or pick.random() < 0.3 else f"x[{column}, {row}]"
    first = "" if pick.random() < 0.4 else f"\n        d = x[{one('j', 'j + 1', '0')}, {one('j', '0', 'j + 1')}] * 3"
    first += "" if pick.random() < 0.5 else f"\n        x[{one('j', 'j', 'j + 1')}, {one('j', 'j', 'n', '0')}] = y[j, j]"
    then = " + d" if "d =" in first and pick.random() < 0.8 else ""
    last = "" if pick.random() < 0.7 else f"\n        x[{one('j', 'j + 1')}, {one('j', 'j + 1', 'n')}] = x[{one('0', 'j')}, j] + 1"
    return at.fn(
        source=f"""
import atoll as at
n = at.sizes("n")
def generated(x: at.f64[2 * n + 3, 2 * n + 3], y: at.f64[2 * n + 3, 2 * n + 3]):
    for j in range(n):{first}
        for i in range({low}, {high}):
            {written} = y[i, j] - sum({term} for p in range({stop})){then}{last}
    return x
"""
    )


@pytest.mark.parametrize("part", range(3))
def test_places_that_may_meet(part):
    for seed in range(14 * part, 14 * part + 14):
        size = 5 + seed % 3
        in_any_order(generated(seed), tuple(rng.standard_normal((2 * size + 3, 2 * size + 3)) / 4 for _ in range(2)))


def test_some_of_them_are_done():
    said = [SAID in generated(seed).explain("schedule") for seed in range(42)]
    assert 4 <= sum(said) <= 38
