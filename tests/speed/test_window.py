"""Rows read just after they are made are kept in a window; grid edges said in any way cost nothing inside. Values are the interpreter's, memory and tests are counted."""

import numpy as np
import pytest

import atoll as at
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.lower.make import compiled_loops

HEAD = 'import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes("n m")\n@at.fn\ndef f(u: f64[n, m]):\n'
MIDDLE = "0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])"

EDGES = {
    "or of ==": f"return [[u[i, j] if i == 0 or i == n - 1 or j == 0 or j == m - 1 else {MIDDLE} for j in range(m)] for i in range(n)]",
    "and of !=": f"return [[{MIDDLE} if i != 0 and i != n - 1 and j != 0 and j != m - 1 else u[i, j] for j in range(m)] for i in range(n)]",
    "not or": f"return [[{MIDDLE} if not (i == 0 or i == n - 1 or j == 0 or j == m - 1) else u[i, j] for j in range(m)] for i in range(n)]",
    "chained": f"return [[{MIDDLE} if 0 < i < n - 1 and 0 < j < m - 1 else u[i, j] for j in range(m)] for i in range(n)]",
    "elif": f"def g(i, j):\n    if i == 0 or i == n - 1:\n        return 0.0\n    elif j == 0:\n        return 1.0\n    elif j == m - 1:\n        return 2.0\n    else:\n        return {MIDDLE}\nreturn [[g(i, j) for j in range(m)] for i in range(n)]",
    "in loops": f"v = at.copy(u)\nfor i in range(n):\n    for j in range(m):\n        if i == 0 or i == n - 1 or j == 0 or j == m - 1:\n            v[i, j] = 0.0\n        else:\n            v[i, j] = {MIDDLE}\nreturn v",
    "continue": f"v = at.copy(u)\nfor i in range(n):\n    for j in range(m):\n        if i == 0 or i == n - 1 or j == 0 or j == m - 1:\n            continue\n        v[i, j] = {MIDDLE}\nreturn v",
    "each neighbour": "return [[(u[i - 1, j] if i != 0 else 0.0) + (u[i + 1, j] if i != n - 1 else 0.0) + (u[i, j - 1] if j != 0 else 0.0) + (u[i, j + 1] if j != m - 1 else 0.0) for j in range(m)] for i in range(n)]",
}  # fmt: skip

CLIPPED = "return [[0.25 * (u[max(i - 1, 0), j] + u[min(i + 1, n - 1), j] + u[i, max(j - 1, 0)] + u[i, min(j + 1, m - 1)]) for j in range(m)] for i in range(n)]"
WRAPPED = "return [[0.25 * (u[(i - 1) % n, j] + u[(i + 1) % n, j] + u[i, (j - 1) % m] + u[i, (j + 1) % m]) for j in range(m)] for i in range(n)]"


def program(body):
    return at.fn(source=HEAD + "".join(f"    {line}\n" for line in body.split("\n")))


def plain(loop):
    """Nothing is decided in a round."""
    inside = list(lp.walk(loop.body))
    return not any(isinstance(s, (lp.If, lp.Check, lp.For, lp.Accumulate)) or any(isinstance(e, lp.Choose) for e in exprs(s)) for s in inside)


def exprs(s):
    return [e for name in ("value",) if getattr(s, name, None) is not None for e in lp.subexprs(getattr(s, name))]


@pytest.mark.parametrize("name", [*EDGES, "clipped"])
def test_the_inside_of_a_grid_has_no_tests(name):
    f = program(EDGES.get(name, CLIPPED))
    loops = compiled_loops(f.core)
    assert not any(isinstance(s, lp.Check) for s in lp.walk(loops.body))
    inside = [s for s in lp.walk(loops.body) if isinstance(s, lp.For) and plain(s) and len(loads(s.body)) >= 4]
    assert inside, "no loop without tests reads four neighbours"


@pytest.mark.parametrize("name", EDGES)
def test_edges_are_right(name):
    f = program(EDGES[name])
    for shape in ((0, 0), (1, 1), (1, 4), (2, 2), (3, 5), (6, 3)):
        u = np.random.default_rng(shape[0]).random(shape)
        np.testing.assert_array_equal(f.compile(optimise="1").call(u), f.interpret(u))


WINDOWS = {  # the second statement reads rows that the first makes; how many rows are kept
    "two statements": ("x = (u[:, :-2] + u[:, 1:-1] + u[:, 2:]) / 3.0\nreturn (x[:-2] + x[1:-1] + x[2:]) / 3.0", 4),
    "comprehensions": ("x = [[sin(u[i, j]) + u[i, j + 1] for j in range(m - 1)] for i in range(n)]\nreturn [[x[i, j] - x[i + 1, j] for j in range(m - 1)] for i in range(n - 1)]", 2),
    "five rows": ("x = sqrt(u[:, 1:] + u[:, :-1])\nreturn [[sum(x[i + d, j] for d in range(5)) for j in range(m - 1)] for i in range(n - 4)]", 8),
    "from the second row": ("x = exp(u)\nreturn [[x[i + 1, j] + x[i + 3, j] for j in range(m)] for i in range(n - 3)]", 4),
}  # fmt: skip

WHOLE = {  # the array is needed otherwise
    "returned": "x = (u[:, :-2] + u[:, 1:-1] + u[:, 2:]) / 3.0\nreturn (x[:-2] + x[1:-1] + x[2:]) / 3.0, x",
    "any row": "x = u * 2.0 + 1.0\nreturn [[x[n - 1 - i, j] + x[i, j] * x[i, 0] for j in range(m)] for i in range(n)]",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_of_rows_is_kept(name):
    body, rows = WINDOWS[name]
    f = program(body)
    (use,) = f.memory().temporaries
    assert "n" not in repr(use.bytes) and repr(use.bytes).startswith(f"{8 * rows}*m")
    for shape in ((5, 4), (6, 3), (9, 17), (70, 5)):
        u = np.random.default_rng(1).random(shape)
        np.testing.assert_allclose(f.compile(optimise="1").call(u), f.interpret(u), rtol=1e-15)


def test_pieces_and_threads_give_the_same_bits():
    f = program(WINDOWS["two statements"][0])
    u = np.random.default_rng(2).random((700, 300))
    found = []
    try:
        for threads in (1, 2, 5):
            at.set_threads(threads)
            found.append(f(u))
    finally:
        at.set_threads(2)
    x = (u[:, 2:] + (u[:, 1:-1] + u[:, :-2])) / 3.0
    np.testing.assert_allclose(found[0], (x[2:] + x[1:-1] + x[:-2]) / 3.0, rtol=1e-14)
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("name", WHOLE)
def test_no_window_where_more_is_read(name):
    f = program(WHOLE[name])
    assert "a window of" not in str(f.explain("schedule"))
    u = np.random.default_rng(3).random((6, 5))
    for a, b in zip(np.atleast_1d(f.compile(optimise="1").call(u)) if name != "returned" else f.compile(optimise="1").call(u), f.interpret(u), strict=True):
        np.testing.assert_allclose(a, b)
