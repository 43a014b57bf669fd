"""Tests on indices leave the inner loop, however many there are; values stay for every size, also where edges meet."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops.execute import execute
from atoll.loops.show import show
from atoll.lower.make import compiled_loops
from atoll.runtime.arguments import from_python
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(5)


@at.fn
def fields(ex: f64[n, m], ey: f64[n, m], hz: f64[n, m], steps: i64):
    """Three arrays changed inside their edges: seven tests in one loop."""
    for s in range(steps):
        ey[0, :] = f64(s)
        ey[1:, :] = [[ey[i + 1, j] - 0.5 * (hz[i + 1, j] - hz[i, j]) for j in range(m)] for i in range(n - 1)]
        ex[:, 1:] = [[ex[i, j + 1] - 0.5 * (hz[i, j + 1] - hz[i, j]) for j in range(m - 1)] for i in range(n)]
        hz[:n - 1, :m - 1] = [[hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]) for j in range(m - 1)] for i in range(n - 1)]
    return ex, ey, hz


@at.fn
def collar(x: f64[n, m]) -> f64[n, m]:
    """Edges of different widths, which meet in small arrays."""
    return [[(x[i, j - 3] if j >= 3 else 1.0) + (x[i, j + 5] if j + 5 < m else 2.0) * (x[i - 2, j] if i >= 2 else 3.0) + (x[i + 1, j - 1] if i + 1 < n and j >= 1 else 4.0) for j in range(m)] for i in range(n)]


@at.fn
def window(x: f64[n], w: i64, at_: i64) -> f64[n]:
    """Bounds that are data, far outside too."""
    return [(x[i] if i >= at_ else 0.0) + (2.0 * x[i] if i < at_ + w else -1.0) for i in range(n)]


@at.fn
def triangle(x: f64[n, m], y: f64[n, m]) -> f64[n, n]:
    return [[sum(x[i, p] * y[j, p] + y[i, p] * x[j, p] for p in range(m)) if j <= i else x[0, 0] for j in range(n)] for i in range(n)]


@at.fn
def banded(x: f64[n], y: f64[m]) -> f64[n]:
    """Terms of a sum under tests: the sum runs where they hold."""
    return [sum(x[i - r] * y[r] if i - r >= 0 and i + r < n else 0.0 for r in range(m)) for i in range(n)]


@at.fn
def guarded(x: f64[n], k: i64) -> f64[n]:
    """A quotient by what the test before it excludes to be 0."""
    return [(x[i] if k != 0 and i >= n // k else -x[i]) for i in range(n)]


@at.fn
def behind(x: f64[n]) -> f64[n]:
    """That a sum has terms says nothing outside the sum."""
    return [(sum(x[r] for r in range(i)) + (x[i - 1] if i >= 1 else 5.0)) * (x[i + 1] if i + 1 < n else -1.0) for i in range(n)]


@at.fn
def two_sums(x: f64[n], y: f64[m]) -> f64[n]:
    """Two sums over different ranges, with the same test."""
    return [sum(x[i - r] * y[r] if i - r >= 0 else 0.0 for r in range(m)) - sum(x[i - r] if i - r >= 0 else 0.0 for r in range(m // 2)) for i in range(n)]


@at.fn
def padded(x: f64[n, m], w: f64[3, 5]) -> f64[n, m]:
    return [[sum(x[i + p - 1, j + q - 2] * w[p, q] if i + p >= 1 and i + p <= n and j + q >= 2 and j + q < m + 2 else 0.0 for p in range(3) for q in range(5)) for j in range(m)] for i in range(n)]


@at.fn
def corners(x: f64[n, m]) -> f64[n, m]:
    """Tests that hold at an edge only, two of them together, and what is left when they do not: every corner and every edge is told apart."""
    c = zeros((n, m))
    for i in range(n):
        for j in range(m):
            v = 0.0
            if i == 0 and j == 0:
                v = 2.0 * x[i, j]
            elif i == 0 and j == m - 1:
                v = x[i, j - 1] - x[i, j]
            elif i == n - 1 and j == m - 1:
                v = x[i - 1, j] * 3.0
            elif i == 0:
                v = x[i, j + 1] + x[i, j - 1]
            elif j == m - 1:
                v = x[i, j - 1] + x[i - 1, j]
            elif j == 0 or i == n - 1:
                v = x[i - 1, j] - 1.0
            else:
                v = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
            c[i, j] = v
    return c


@at.fn
def both_sides(x: f64[n], k: i64) -> f64[n]:
    """A test and its negation, of which neither is the rule, and one of both ends."""
    return [(x[i] if i < k else -x[i]) + (2.0 * x[i] if i >= k else 3.0) + (7.0 if i == 0 and i == n - 1 else 1.0) + (sum(1.0 if i == 0 and q == 1 else x[q] for q in range(3)) + sum((x[q] if q == 0 else 3.0) - (x[q] if q == 1 else 1.0) for q in range(2)) if n >= 3 else 0.0) for i in range(n)]


SIZES = [(0, 0), (1, 1), (1, 7), (2, 3), (3, 2), (5, 9), (17, 8)]


@pytest.mark.parametrize("rows, columns", SIZES)
def test_grids(rows, columns):
    if rows and columns:
        agree(fields, rng.random((rows, columns)), rng.random((rows, columns)), rng.random((rows, columns)), 3)
    agree(collar, rng.random((rows, columns)))
    agree(banded, rng.random(columns), rng.random(rows))
    agree(behind, rng.random(columns))
    agree(two_sums, rng.random(columns), rng.random(rows))
    agree(padded, rng.random((rows, columns)), rng.random((3, 5)))
    agree(corners, rng.random((rows, columns)))
    for k in (-1, 0, 1, columns - 1, columns, columns + 2):
        agree(both_sides, rng.random(columns), k)
    if rows and columns:
        agree(triangle, rng.random((rows, columns)), rng.random((rows, columns)))


@pytest.mark.parametrize("first", [0, 1, 4, 9, 10, -3, 2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_bounds_from_data(first):
    for width in (0, 1, 3, 100, -5):
        agree(window, rng.random(10), width, first)


def test_tests_that_need_another():
    for k in (0, 1, 3, -2):
        agree(guarded, rng.random(10), k)


def test_the_inside_has_no_tests():
    for f, inner in ((fields, "for j"), (collar, "for j"), (banded, "accumulate"), (padded, "for j"), (corners, "for j")):
        text = show(compiled_loops(f.core)).split("\n")
        clear = []
        for k, line in enumerate(text):
            if line.strip().startswith(inner):
                depth = len(line) - len(line.lstrip())
                body = []
                for below in text[k + 1 :]:
                    if len(below) - len(below.lstrip()) <= depth:
                        break
                    body.append(below)
                clear.append(body and not any(" if " in b or b.strip().startswith("if ") for b in body))
        assert any(clear), "\n".join(text)


def rewritten(f, *args):
    given = from_python(f.core, f._arguments(args, {}))
    return execute(compiled_loops(f.core), [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given), 7)[0]


@pytest.mark.parametrize("rows, columns", SIZES)
def test_rewritten_loops_execute_alike(rows, columns):
    x = rng.random((rows, columns))
    assert np.array_equal(rewritten(collar, x), collar.interpret(x))
    assert np.array_equal(rewritten(corners, x), corners.interpret(x))
    y, z = rng.random(columns), rng.random(rows)
    for f in (banded, two_sums):
        np.testing.assert_allclose(rewritten(f, y, z), f.interpret(y, z), rtol=1e-12)
    np.testing.assert_allclose(rewritten(behind, y), behind.interpret(y), rtol=1e-12)
    w = rng.random((3, 5))
    np.testing.assert_allclose(rewritten(padded, x, w), padded.interpret(x, w), rtol=1e-12)
