"""Schenck's tables of derivatives (docs/sources.md, Schenck): D1 to D12, S1 to S33, L1 to L12, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import bool_, f64, fn, i64
from tests.agreement import agree

n, m, k, d = at.sizes("n m k d")
a = np.array


def F(*xs: Any) -> np.ndarray[Any, Any]:
    return np.array(xs, np.float64)


# -- D: scalars and the interface


@fn
def p_figure(x: f64[2]) -> f64[2]:
    v0 = sin(x[0])
    v1 = x[1] * v0
    v2 = v0 * v1
    return [v1 + v2, cos(v2)]


def test_d1() -> None:
    @fn
    def forward(x: f64[2]) -> f64[2, 2]:
        return [jvp(p_figure, x, e) for e in [[1.0, 0.0], [0.0, 1.0]]]

    @fn
    def reverse(x: f64[2]) -> f64[2, 2]:
        return [vjp(p_figure, x, e) for e in [[1.0, 0.0], [0.0, 1.0]]]

    jac = a([[3.43810709, 0.70927439], [-0.74668299, -0.10197869]])
    x = F(0.5, 2)
    np.testing.assert_allclose(p_figure(x), [1.41854877, 0.89618666], atol=1e-8)
    np.testing.assert_allclose(agree(forward, x).T, jac, atol=1e-8)
    np.testing.assert_allclose(agree(reverse, x), jac, atol=1e-8)


def test_d2() -> None:
    @fn
    def f(x0: f64, x1: f64):
        return jvp2(lambda p, q: sin(p * q), (x0, x1), (1.0, 0.0))

    np.testing.assert_allclose(agree(f, 2.0, 3.0), (-0.2794155, 2.88051086), atol=1e-7)


def test_d3() -> None:
    @fn
    def f(x: f64):
        return jvp2(lambda y: y * y, x, 1.0), vjp2(lambda y: y * y, x, 1.0)

    agree(f, 3.0, expected=((9.0, 6.0), (9.0, 6.0)))


def test_d4() -> None:
    @fn
    def f(x: f64, y: f64):
        return vjp(lambda p, q: (p * q, p + q), (x, y), (10.0, 1.0))

    agree(f, 2.0, 3.0, expected=(31.0, 21.0))


def test_d5() -> None:
    @fn
    def f(x: f64) -> f64:
        return vjp(lambda y: y * y + y, x, 1.0)

    agree(f, 4.0, expected=9.0)


def test_d6() -> None:
    @fn
    def f(x: f64, y: f64[n]):
        return vjp(lambda p, q: p, (x, y), 1.0)

    agree(f, 4.0, F(1, 2), expected=(1.0, F(0, 0)))


def test_d8() -> None:
    @fn
    def f(x: f64) -> f64[3]:
        cube = lambda y: y * y * y
        return [
            jvp(lambda y: vjp(cube, y, 1.0), x, 1.0),
            vjp(lambda y: vjp(cube, y, 1.0), x, 1.0),
            vjp(lambda y: jvp(cube, y, 1.0), x, 1.0),
        ]

    agree(f, 2.0, expected=F(12, 12, 12))


def test_d9() -> None:
    @fn
    def f(x: f64) -> f64:
        return jvp(lambda p: p * jvp(lambda y: p + y, 1.0, 1.0), x, 1.0)

    agree(f, 1.0, expected=1.0)


def test_d10() -> None:
    @fn
    def f(x: f64[n]) -> f64[n]:
        return grad(lambda y: log(sum(exp(y - max(y)))) + max(y))(x)

    np.testing.assert_allclose(agree(f, F(1, 2, 3)), [0.09003057, 0.24472847, 0.66524096], atol=1e-8)


def test_d11() -> None:
    @fn
    def g(x: f64) -> f64:
        if x > 0.0:
            return x * x
        return -x

    @fn
    def f(x: f64) -> f64:
        return grad(g)(x)

    agree(f, 3.0, expected=6.0)
    agree(f, -3.0, expected=-1.0)


def test_d12() -> None:
    @fn
    def g(c: bool_, p: f64, q: f64) -> f64:
        return p * p if c else q

    @fn
    def f(c: bool_, p: f64, q: f64):
        return grad(g, wrt=("p", "q"))(c, p, q)

    agree(f, True, 3.0, 1.0, expected=(6.0, 0.0))
    agree(f, False, 3.0, 1.0, expected=(0.0, 1.0))


# -- S: reductions, scans, histograms, scatters

PAIRS = F([2, 1], [3, 4], [5, 6])
MATS = a([[[1, 2], [3, 4]], [[0, 1], [1, 0]], [[2, 0], [0, 3]]], np.float64)


@fn
def star(x: f64, y: f64) -> f64:
    return x * y + x + y


@fn
def affine(p: (f64, f64), q: (f64, f64)) -> (f64, f64):
    return p[0] * q[0], p[1] * q[0] + q[1]


@fn
def mat2(p: f64[2, 2], q: f64[2, 2]) -> f64[2, 2]:
    return p @ q


@pytest.mark.parametrize(
    ("xs", "dy", "expected"),
    [pytest.param(F(1, 2, 3), 5.0, F(5, 5, 5), id="S1")],
)
def test_sum(xs: Any, dy: float, expected: Any) -> None:
    @fn
    def f(xs: f64[n], dy: f64) -> f64[n]:
        return vjp(lambda x: sum(x), xs, dy)

    agree(f, xs, dy, expected=expected)


@pytest.mark.parametrize(
    ("xs", "expected"),
    [
        pytest.param(F(2, 3, 4), F(12, 8, 6), id="S2"),
        pytest.param(F(2, 0, 4), F(0, 8, 0), id="S3"),
        pytest.param(F(0, 0, 4), F(0, 0, 0), id="S4"),
    ],
)
def test_prod(xs: Any, expected: Any) -> None:
    @fn
    def f(xs: f64[n]) -> f64[n]:
        return vjp(lambda x: prod(x), xs, 1.0)

    agree(f, xs, expected=expected)


def test_s5_s6() -> None:
    @fn
    def low(xs: f64[n], dy: f64) -> f64[n]:
        return vjp(lambda x: reduce(minimum, inf, x), xs, dy)

    @fn
    def high(xs: f64[n], dy: f64) -> f64[n]:
        return vjp(lambda x: max(x), xs, dy)

    agree(low, F(3, 1, 2, 1), 5.0, expected=F(0, 5, 0, 0))
    agree(high, F(7, 7), 1.0, expected=F(1, 0))


def test_s7() -> None:
    @fn
    def f(xs: f64[n]):
        return vjp2(lambda x: reduce(star, 0.0, x), xs, 1.0)

    agree(f, F(1, 2, 3), expected=(23.0, F(12, 8, 6)))


def test_s8() -> None:
    @fn
    def f(ps: f64[n], qs: f64[n]):
        return vjp2(lambda p, q: reduce(affine, (1.0, 0.0), zip(p, q)), (ps, qs), (1.0, 1.0))

    agree(f, F(2, 3, 5), F(1, 4, 6), expected=((30.0, 41.0), (F(15, 15, 13), F(15, 5, 1))))


def test_s9() -> None:
    @fn
    def f(ms: f64[n, 2, 2]) -> f64[n, 2, 2]:
        return vjp(lambda x: reduce(mat2, [[1.0, 0.0], [0.0, 1.0]], x), ms, [[1.0, 0.0], [0.0, 1.0]])

    agree(f, MATS, expected=a([[[0, 2], [3, 0]], [[2, 9], [4, 12]], [[2, 4], [1, 3]]], np.float64))


def test_s10() -> None:
    @fn
    def f(c: f64, xs: f64[n]) -> f64:
        return grad(lambda c: reduce(lambda x, y: x + y + c * x * y, 0.0, xs))(c)

    agree(f, 0.5, F(1, 2, 3, 4), expected=103.0)


def test_s11() -> None:
    @fn
    def f(xs: f64[n], dy: f64[n]) -> f64[n]:
        return vjp(lambda x: scan(add, 0.0, x), xs, dy)

    agree(f, F(1, 2, 3), F(1, 10, 100), expected=F(111, 110, 100))


def test_s12() -> None:
    @fn
    def f(xs: f64[n], dy: f64[n]):
        return vjp2(lambda x: scan(mul, 1.0, x), xs, dy)

    agree(f, F(2, 3, 4), F(1, 1, 1), expected=(F(2, 6, 24), F(16, 10, 6)))


def test_s13() -> None:
    @fn
    def f(xs: f64[n], dy: f64[n]) -> f64[n]:
        return vjp(lambda x: scan(maximum, -inf, x), xs, dy)

    agree(f, F(1, 3, 2), F(1, 10, 100), expected=F(1, 110, 0))


def test_s14() -> None:
    @fn
    def f(xs: f64[n], dy: f64[n]):
        return vjp2(lambda x: scan(star, 0.0, x), xs, dy)

    agree(f, F(1, 2, 3), F(1, 1, 1), expected=(F(1, 5, 23), F(16, 10, 6)))


def test_s15() -> None:
    @fn
    def f(ps: f64[n], qs: f64[n], dy: f64[n]):
        return vjp2(lambda p, q: unzip(scan(affine, (1.0, 0.0), zip(p, q))), (ps, qs), (dy, dy))

    expected = ((F(2, 6, 30), F(1, 7, 41)), (F(19, 18, 13), F(19, 6, 1)))
    agree(f, F(2, 3, 5), F(1, 4, 6), F(1, 1, 1), expected=expected)


def test_s16() -> None:
    @fn
    def f(ms: f64[n, 2, 2], dy: f64[n, 2, 2]) -> f64[n, 2, 2]:
        return vjp(lambda x: scan(mat2, [[1.0, 0.0], [0.0, 1.0]], x), ms, dy)

    seeds = np.stack([np.eye(2)] * 3)
    agree(f, MATS, seeds, expected=a([[[1, 3], [4, 1]], [[3, 12], [6, 16]], [[2, 4], [1, 3]]], np.float64))


def test_s17() -> None:
    @fn
    def f(xs: f64[n, m], dy: f64[n, m]) -> f64[n, m]:
        return vjp(lambda x: scan(add, zeros(m), x), xs, dy)

    agree(f, F([1, 2], [3, 4], [5, 6]), np.ones((3, 2)), expected=F([3, 3], [2, 2], [1, 1]))


def test_s18() -> None:
    @fn
    def f(c: f64, xs: f64[n], dy: f64[n]) -> f64:
        return vjp(lambda c: scan(lambda x, y: x + y + c * x * y, 0.0, xs), c, dy)

    agree(f, 0.5, F(1, 2, 3, 4), F(1, 2, 3, 4), expected=467.0)


def test_s19() -> None:
    @fn
    def f(inds: i64[n], xs: f64[n], dh: f64[2]):
        return vjp2(lambda x: hist(add, 0.0, 2, inds, x), xs, dh)

    agree(f, a([0, 1, 0]), F(1, 2, 3), F(10, 20), expected=(F(4, 2), F(10, 20, 10)))


def test_s20() -> None:
    @fn
    def f(inds: i64[n], xs: f64[n], dh: f64[3]) -> f64[n]:
        return vjp(lambda x: hist(mul, 1.0, 3, inds, x), xs, dh)

    agree(f, a([0, 0, 1, 1, 1, 2, 2, 2]), F(2, 3, 0, 5, 4, 7, 0, 0), F(1, 10, 100), expected=F(3, 2, 200, 0, 0, 0, 0, 0))


def test_s21() -> None:
    @fn
    def f(inds: i64[n], xs: f64[n], dh: f64[3]) -> f64[n]:
        return vjp(lambda x: hist(maximum, -inf, 3, inds, x), xs, dh)

    agree(f, a([0, 0, 1, 1]), F(1, 5, 7, 7), F(1, 2, 9), expected=F(0, 1, 2, 0))


def test_s22() -> None:
    @fn
    def f(inds: i64[n], xs: f64[n], dh: f64[3]):
        return vjp2(lambda x: hist(star, 0.0, 3, inds, x), xs, dh)

    agree(f, a([0, 1, 0, 1]), F(1, 2, 3, 4), F(1, 10, 100), expected=(F(7, 14, 0), F(4, 50, 2, 30)))


def test_s23() -> None:
    @fn
    def f(xs: f64[n], inds: i64[m], vs: f64[m], dy: f64[n]):
        return vjp(lambda x, v: scatter(x, inds, v), (xs, vs), dy)

    agree(f, F(1, 2, 3, 4), a([2, 0]), F(10, 20), F(1, 2, 3, 4), expected=(F(0, 2, 0, 4), F(3, 1)))


def test_s24() -> None:
    @fn
    def f(xs: f64[n], inds: i64[m], dy: f64[m]) -> f64[n]:
        return vjp(lambda x: gather(x, inds), xs, dy)

    agree(f, F(7, 8, 9), a([0, 0, 2]), F(1, 2, 3), expected=F(3, 0, 3))


def test_s25() -> None:
    @fn
    def f(xs: f64[n], c: f64, dy: f64[n]):
        return vjp(lambda x, c: x * c, (xs, c), dy)

    agree(f, F(1, 2, 3), 5.0, F(1, 10, 100), expected=(F(5, 50, 500), 321.0))


def test_s26() -> None:
    @fn
    def f(A: f64[n, m], x: f64[m], dy: f64[n]):
        return vjp(lambda A, x: A @ x, (A, x), dy)

    agree(f, F([1, 2], [3, 4]), F(5, 6), F(1, 10), expected=(F([5, 6], [50, 60]), F(31, 42)))


def test_s27() -> None:
    @fn
    def f(A: f64[n, k], B: f64[k, m], dy: f64[n, m]):
        return vjp(lambda A, B: A @ B, (A, B), dy)

    agree(f, F([1, 2], [3, 4]), F([5, 6], [7, 8]), np.eye(2), expected=(F([5, 7], [6, 8]), F([1, 3], [2, 4])))
    text = f.show("ainf")
    assert "scatter" not in text and text.count("= add") == 2  # two sums of products, nothing accumulated one by one


def test_s30() -> None:
    @fn
    def f(cs: bool_[n], xss: f64[n, m], dy: f64[n, m]) -> f64[n, m]:
        return vjp(lambda x: [[x[i, j] if cs[i] else x[i, j] * x[i, j] for j in range(m)] for i in range(n)], xss, dy)

    agree(f, a([False, False]), F([1, 2], [3, 4]), np.ones((2, 2)), expected=F([2, 4], [6, 8]))
    agree(f, a([True, False]), F([1, 2], [3, 4]), np.ones((2, 2)), expected=F([1, 1], [6, 8]))
    assert f.show("ainf").count("mul") <= 1  # x*x itself is not computed again


def test_s31() -> None:
    @fn
    def g(xs: f64[n], c: f64) -> f64[n]:
        ys = xs
        ys[1] = c * c
        return ys

    @fn
    def f(xs: f64[n], c: f64, dy: f64[n]):
        return vjp(g, (xs, c), dy)

    agree(f, F(1, 2, 3), 4.0, F(1, 10, 100), expected=(F(1, 0, 100), 80.0))


def test_s32() -> None:
    @fn
    def f(xs: f64[n, m], dy: f64[m]) -> f64[n, m]:
        return vjp(lambda x: reduce(add, zeros(m), x), xs, dy)

    agree(f, F([1, 2], [3, 4]), F(5, 7), expected=F([5, 7], [5, 7]))


# -- L: loops


def test_l1() -> None:
    @fn
    def f(x: f64) -> f64:
        def g(x):
            y = x
            for i in range(3):
                y = y * y
            return y
        return grad(g)(x)

    agree(f, 2.0, expected=1024.0)


def test_l2() -> None:
    @fn
    def f(x: f64) -> f64:
        def g(x):
            y = 1.0
            for i in range(4):
                y = y * x
            return y
        return grad(g)(x)

    agree(f, 3.0, expected=108.0)


@fn
def horner(s0: f64, xs: f64[n]) -> f64:
    s = s0
    for x in xs:
        s = s * x + 1.0
    return s


def test_l3_l4() -> None:
    @fn
    def f(s0: f64, xs: f64[n]):
        return vjp2(horner, (s0, xs), 1.0)

    agree(f, 1.0, F(2, 3, 4), expected=(41.0, (24.0, F(12, 12, 10))))
    agree(f, 1.0, F(), expected=(1.0, (1.0, F())))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("rounds", [0, 1, 5, 8, 9, 64])
def test_l5(depth: int, rounds: int) -> None:
    f = at.fn(source=f"""
import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def g(s0: f64, xs: f64[n]) -> f64:
    s = s0
    for i in at.loop(n, checkpoint={depth}):
        s = sin(s * xs[i]) + 1.0
    return s
@at.fn
def f(s0: f64, xs: f64[n]):
    return vjp2(g, (s0, xs), 1.0)
""")
    agree(f, 1.0, np.linspace(0.5, 1.5, rounds))


def test_l6() -> None:
    @fn
    def plain(x: f64) -> f64:
        y = x
        while y < 100.0:
            y = y * 2.0
        return y

    @fn
    def bounded(x: f64) -> f64:
        y = x
        while at.bound(10) and y < 100.0:
            y = y * 2.0
        return y

    for g in (plain, bounded):

        @fn
        def f(x: f64):
            return vjp2(g, x, 1.0)

        agree(f, 3.0, expected=(192.0, 64.0))
        agree(f, 300.0, expected=(300.0, 1.0))


@pytest.mark.parametrize("option", ["", ", no_false_deps=True"])
def test_l7(option: str) -> None:
    f = at.fn(source=f"""
import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def g(xs0: f64[n], cs: f64[n]) -> f64[n]:
    xs = xs0
    for i in at.loop(n - 1{option}):
        xs[i + 1] = cs[i + 1] * xs[i]
    return xs
@at.fn
def f(xs: f64[n], cs: f64[n], dy: f64[n]):
    return vjp2(g, (xs, cs), dy)
""")
    expected = (F(2, 6, 24, 120), (F(76, 0, 0, 0), F(0, 50, 36, 24)))
    agree(f, F(2, 9, 9, 9), F(1, 3, 4, 5), np.ones(4), expected=expected)


def test_l8() -> None:
    @fn
    def f(xs: f64[n]) -> f64[n]:
        def g(xs):
            s = 0.0
            for x in xs:
                s = s + x
            return s
        return grad(g)(xs)

    agree(f, F(1, 2, 3), expected=F(1, 1, 1))
    assert f.show("ainf").count("loop") <= 1  # the forward loop and its tape are dead


def test_l10() -> None:
    @fn
    def cost(points: f64[n, d], centers: f64[k, d]) -> f64:
        return sum(min(sum((p - c) * (p - c)) for c in centers) for p in points)

    @fn
    def step(points: f64[n, d], centers: f64[k, d]):
        g, h = jvp2(lambda c: vjp(lambda x: cost(points, x), c, 1.0), centers, ones((k, d)))
        return cost(points, centers), g, h, centers - g / h

    points, centers = F([0, 0], [2, 0]), F([0, 1], [3, 0])
    expected = (2.0, F([0, 2], [2, 0]), np.full((2, 2), 2.0), F([0, 0], [2, 0]))
    agree(step, points, centers, expected=expected)


def test_l11() -> None:
    @fn
    def outer(A: f64[n, n], x: f64[n]) -> f64:
        y = x
        for t in range(3):
            y = [sin(sum(A[i, j] * y[j] for j in range(n))) + x[i] for i in range(n)]
        return sum(y)

    @fn
    def inner(A: f64[n, n], x: f64[n]) -> f64:
        def one(i):
            s = x[i]
            for j in range(n):
                s = sin(s * A[i, j] + x[j])
            return s
        return sum(one(i) for i in range(n))

    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    for g in (outer, inner):

        @fn
        def f(A: f64[n, n], x: f64[n]):
            return grad(g, wrt=(0, 1))(A, x)

        agree(f, A, x)


def test_l12() -> None:
    @fn
    def g(x: f64, xs: f64[n, m]) -> f64:
        s = x
        for i in range(n):
            for j in range(m):
                s = sin(s) * xs[i, j]
        return s

    @fn
    def f(x: f64, xs: f64[n, m]):
        return grad(g, wrt=(0, 1))(x, xs)

    agree(f, 0.7, np.random.default_rng(0).normal(size=(3, 4)))
