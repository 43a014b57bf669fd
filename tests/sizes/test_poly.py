"""Polynomials: normal form, quotients, printing. Every law is also tried on numbers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atoll as at
from atoll.sizes import Poly, Sym, cdiv, floordiv, poly, product
from atoll.sizes.poly import exact_quotient, show

N, M, K = (Sym(name) for name in "nmk")
n, m, k = poly(N), poly(M), poly(K)
VALUES = [dict(zip((N, M, K), v, strict=True)) for v in itertools.product((0, 1, 2, 5), (0, 1, 3), (1, 2, 4))]


@st.composite
def polys(draw: st.DrawFn, depth: int = 3) -> Poly:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([n, m, k, poly(draw(st.integers(-4, 4)))]))
    op = draw(st.sampled_from(["+", "-", "*", "//", "%"]))
    a = draw(polys(depth=depth - 1))
    if op in ("//", "%"):
        d = draw(st.integers(1, 5))
        return a // d if op == "//" else a % d
    b = draw(polys(depth=depth - 1))
    return a + b if op == "+" else a - b if op == "-" else a * b


@settings(max_examples=300, deadline=None)
@given(polys(), polys(), polys())
def test_arithmetic_means_arithmetic(a: Poly, b: Poly, c: Poly) -> None:
    for env in VALUES[:6]:
        x, y, z = (p.evaluate(env) for p in (a, b, c))
        assert (a + b).evaluate(env) == x + y
        assert (a - b).evaluate(env) == x - y
        assert (a * b).evaluate(env) == x * y
        assert floordiv(a, poly(3)).evaluate(env) == x // 3
        assert (a % 3).evaluate(env) == x % 3
        assert cdiv(a, 4).evaluate(env) == -(-x // 4)
    assert a * (b + c) == a * b + a * c
    assert (a + b) + c == a + (b + c) and a * b == b * a
    assert (a == b) <= (hash(a) == hash(b))


@settings(max_examples=200, deadline=None)
@given(polys(), polys())
def test_substitution_means_substitution(a: Poly, b: Poly) -> None:
    changed = a.subst({N: b})
    for env in VALUES[:8]:
        assert changed.evaluate(env) == a.evaluate({**env, N: b.evaluate(env)})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((n - 1) ** 2 - 1, n * (n - 2)),
        (k * (n + m), k * m + k * n),
        ((4 * n + 6) // 2, 2 * n + 3),
        ((n // 2) // 3, n // 6),
        ((n + 4) // 4, n // 4 + 1),
        ((k * n) // k, n),
        (4 * (n // 4) + n % 4, n),
        (cdiv(4 * n, 4), n),
        ((6 * n + 3) // 6, n),
    ],
)
def test_equal_normal_forms(left: Poly, right: Poly) -> None:
    assert left == right


@pytest.mark.parametrize(("left", "right"), [(n, 2 - n), (n // 2, n - n // 2), ((n + 1) // 2, n // 2)])
def test_different_normal_forms(left: Poly, right: Poly) -> None:
    assert left != right


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (n, "n"),
        (2 * n + m - 1, "m + 2*n - 1"),
        (poly(0), "0"),
        (n - n, "0"),
        (-n, "-n"),
        (n // 4, "n // 4"),
        (n % 4, "n % 4"),
        (3 * (n % 4), "3*(n % 4)"),
        ((n + 1) // 2, "(n + 1) // 2"),
        (n * m * k, "n*m*k"),
        (n**2, "n*n"),
        (1 - n, "1 - n"),
    ],
)
def test_printing(p: Poly, text: str) -> None:
    assert show(p) == text


def test_looking_inside() -> None:
    p = 3 * n * m + 2 * n + 6
    assert p.coefficient(N) == 3 * m + 2
    assert p.coefficient(K) == poly(0)
    assert (n * n).coefficient(N) is None
    assert p.content() == 1 and (4 * n + 6 * m + 3).content() == 2
    assert p.leaves() == {N, M} and (n // (k + 1)).leaves() == {N, K}
    assert exact_quotient(6 * n * m + 4 * n, 2 * n) == 3 * m + 2
    assert exact_quotient(n + 1, poly(2)) is None
    assert product([n, m, 2]) == 2 * n * m
    assert poly(7).const() == 7 and n.const() is None and n.single() is N


def test_divisors_are_positive() -> None:
    with pytest.raises(at.SizeError, match="E0314"):
        floordiv(n, poly(0))
    with pytest.raises(at.SizeError, match="E0314"):
        floordiv(n, poly(-2))


def test_nothing_divided_is_nothing():
    """By whatever it is divided: an index of the first element is 0 in every way it can be written."""
    i = Sym("i")
    assert floordiv(poly(0), n + 1) == poly(0)
    assert floordiv(poly(i), n + 1).subst({i: poly(0)}) == poly(0)
