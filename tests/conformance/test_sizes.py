"""docs/sources.md, Pauget, A1 to A27, through our operators; the row's id is in each test's name.

MADL's inference is written with `_` here: each `_` is a size of its own that the body decides. Where our language differs by contract, the
row pins what it says instead: sizes are given to window, split and repeat; an index that is not proved in range is checked when the
program runs; `sample` takes every k-th element of any length.
"""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.sizes import Sym, poly
from atoll.sizes.schemes import equivalent, scheme
from atoll.types.types import sizes_in
from tests.sizes.test_solver import Case

HEAD = """
import atoll as at
from atoll import _, f64, i64, idx
n, m, k = at.sizes("n m k")
a, b = at.types("a b")
@at.fn
def dot(u: f64[_], v: f64[_]):
    return sum(u * v)
@at.fn
def mat_vec(a: f64[_, _], v: f64[_]):
    return map(lambda c: dot(v, c), transpose(a))
"""
I, K, D, L = (poly(Sym(name)) for name in "ikdl")


def fn(text: str) -> at.Function:
    return at.fn(source=f"{HEAD}\n@at.fn\n{text}")


def sizes_of(f: at.Function) -> list[object]:
    """Every size of the inferred type: parameters, then the result."""
    core = f.core
    return [p for t in (*(t for _, t in core.params), core.result) for p in sizes_in(t)]


def has_scheme(f: at.Function, expected: list[object]) -> bool:
    found = scheme(sizes_of(f), f.core.sizes)  # type: ignore[arg-type]
    return equivalent(found, scheme(expected))  # type: ignore[arg-type]


def error(text: str) -> at.Error:
    with pytest.raises(at.Error) as caught:
        fn(text)
    return caught.value


def test_A1_A2_A3_normal_forms() -> None:
    assert K * (I + D) == K * D + K * I
    assert (I - 1) ** 2 - 1 == I * (I - 2)
    assert I != 2 - I


def test_A4_dot() -> None:
    f = fn("def f(u: f64[_], v: f64[_]):\n    return sum(u * v)")
    assert f.type == "f(u: f64[i], v: f64[i]) -> f64"
    assert has_scheme(f, [I, I])


def test_A5_dot_of_three_and_two() -> None:
    e = error("def f():\n    return dot([1.0, 1.0, 1.0], [1.0, 1.0])")
    assert e.code == "E0301" and "3 is not 2" in str(e)


def test_A6_an_unconstrained_size() -> None:
    e = error("def even():\n    return sum(rep(2))")
    assert e.code == "E0303" and "nothing determines the size len(rep(2))" in str(e)


def test_A7_even_with_its_size() -> None:
    f = fn("def even(n_: i64):\n    return sum(repeat(2, n_))")
    assert f.interpret(5) == 10


def test_A8_convolution() -> None:
    f = fn("def convolution(k: f64[_], x: f64[_]):\n    return map(lambda w: dot(k, w), window(x, len(k)))")
    assert has_scheme(f, [K, I + K - 1, I]) and has_scheme(f, [K, I, I - K + 1])
    assert not has_scheme(f, [K, I, I])
    np.testing.assert_array_equal(f.interpret(np.array([1.0, 0.0, -1.0]), np.arange(1.0, 7.0)), [-2, -2, -2, -2])


def test_A9_factors_are_not_guessed() -> None:
    e = error("def f(x: f64[4]):\n    y: f64[_, _] = rep(rep(1.0))\n    return flatten(y) + x")
    assert e.code == "E0302" and "= 4" in str(e)


def test_A10_A11_split() -> None:
    f = fn("def f(x: f64[4]):\n    return split(x, 2)")
    assert f.type == "f(x: f64[4]) -> f64[2, 2]"
    assert error("def f(x: f64[4]):\n    return split(x, 3)").code == "E0307"
    inferred = fn("def f(x: f64[_, 2], y: f64[4]):\n    return flatten(x) + y")  # 2*i = 4, divided by 2
    assert inferred.type == "f(x: f64[2, 2], y: f64[4]) -> f64[4]"
    e = error("def f(x: f64[_, 3], y: f64[4]):\n    return flatten(x) + y")
    assert e.code == "E0311" and "3*len(x) = 4" in str(e)


def test_A12_a_size_is_an_integer() -> None:
    assert error("def f(x: f64):\n    return repeat(x, 9.0)").code == "E0213"
    assert fn("def f(x: f64):\n    return repeat(x, 9)").type == "f(x: f64) -> f64[9]"


def test_A13_a_size_parameter_is_that_size() -> None:
    text = "@at.fn\ndef g(k: i64, x: f64[k]) -> f64[k]:\n    return x\n@at.fn\ndef f(x: f64[4]):\n    return g({}, x)"
    assert at.fn(source=HEAD + text.format(4)).type == "f(x: f64[4]) -> f64[4]"
    with pytest.raises(at.SizeError, match="5 is not 4|4 is not 5"):
        at.fn(source=HEAD + text.format(5))


def test_A14_slope() -> None:
    body = "    return (f(i) - f(j)) / f64(i - j)"
    with_array = fn("def slope(f: f64[_], i: idx[n], j: idx[n]):\n    return (f[i] - f[j]) / f64(i - j)")
    assert has_scheme(with_array, [L, I, I])  # the array may be longer: an index is proved or checked
    same = fn("def slope(f: f64[n], i: idx[n], j: idx[n]):\n    return (f[i] - f[j]) / f64(i - j)")
    assert has_scheme(same, [I, I, I])
    two = fn("def slope(f: f64[n], i: idx[n], j: idx[m]):\n    return (f[i] - f[j]) / f64(i - j)")
    assert has_scheme(two, [I, I, K])
    bare = at.fn(source=f"{HEAD}\n@at.fn\ndef slope(f: at.Fn[[i64], f64], i: i64, j: i64):\n{body}")
    assert bare.type == "slope(f: at.Fn[[i64], f64], i: i64, j: i64)"


def test_A15_A16_indices() -> None:
    checked = fn("def f(u: f64[_], i: i64):\n    return u[i]")
    with pytest.raises(IndexError):
        checked.interpret(np.zeros(3), 3)
    proved = fn("def f(u: f64[_], i: i64):\n    assert len(u) > 0\n    return u[i % len(u)]")
    assert has_scheme(proved, [I]) and proved.interpret(np.arange(3.0), 7) == 1.0


def test_A17_pack() -> None:
    f = fn("def pack(x: f64[_], s: i64):\n    assert s > 0\n    return [w for w in window(x, 3)]")
    assert f.core.result is not None
    packed = fn("def pack(x: f64[7]):\n    return sample(window(x, 3), 2)")
    assert packed.type == "pack(x: f64[7]) -> f64[3, 3]"
    np.testing.assert_array_equal(packed.interpret(np.arange(7.0)), [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
    wrong = "def pack(x: f64[9]) -> f64[3, 3]:\n    return sample(window(x, 3), 2)"
    assert error(wrong).code == "E0301"


def test_A18_a_size_only_the_use_could_determine() -> None:
    text = "@at.fn\ndef g(x: f64[n + k - 1]) -> f64:\n    return 0.0\n@at.fn\ndef f(x: f64[5]):\n    return g(x)"
    with pytest.raises(at.SizeError) as caught:
        at.fn(source=HEAD + text)
    assert caught.value.code in ("E0302", "E0303", "E0308")


def test_A19_products_do_not_determine_their_factors() -> None:
    e = error("def f(x: f64[_, _], y: f64[_, _]):\n    return flatten(transpose(x)) + flatten(y)")
    assert e.code == "E0302" and "len(x)*x.shape[1] = len(y)*y.shape[1]" in str(e)


def test_A20_a_size_that_must_be_0() -> None:
    f = fn("def f(x: f64[_]):\n    return dot(concat(x, x), x)")
    assert f.type == "f(x: f64[0]) -> f64"


def test_A21_decomposition() -> None:
    c = Case({"kappa": 0, "delta": 0}, {"i": 1})
    c.equate((c["kappa"] - 3) * c["i"] + (c["delta"] - 2 * c["kappa"]), poly(0))
    assert c.value("kappa") == poly(3) and c.value("delta") == poly(6)


def test_A22_no_early_escape_error() -> None:
    c = Case({"inner": 2, "outer": 0}, {"i": 1})
    c.equate(7 * (c["i"] - c["inner"]) - c["outer"], poly(0))
    c.equate(c["inner"], c["i"] - 6)
    assert c.value("outer") == poly(42) and not c.left_over


def test_A23_an_inner_size_escapes() -> None:
    c = Case({"kappa": 0, "delta": 0}, {"i": 1})
    c.equate(7 * c["i"] - 7 * c["kappa"] - c["delta"], poly(0))
    assert any(c.solver.impossible(p) for p in c.left_over)


def test_A24_an_abstract_size_is_only_itself() -> None:
    e = error("def f(x: f64[4]):\n    s = 0.0\n    for i in range(4):\n        s = s + sum(x[:i] * x)\n    return s")
    assert e.code == "E0301" and "i is not 4" in str(e)
    assert error("def f(x: f64[n]) -> f64[4]:\n    return x").code == "E0301"


def test_A25_type_variables() -> None:
    text = "@at.fn\ndef ident(x: a) -> a:\n    return x\n@at.fn\ndef f(x: f64[n], y: i64):\n    return ident(x), ident(y)"
    assert at.fn(source=HEAD + text).type == "f(x: f64[n], y: i64) -> (f64[n], i64)"


def test_A26_only_at_even_sizes() -> None:
    text = "@at.fn\ndef g(u: f64[2*n]) -> f64[n]:\n    return u[:n]\n@at.fn\ndef f(u: f64[{}]):\n    return g(u)"
    assert at.fn(source=HEAD + text.format(6)).type == "f(u: f64[6]) -> f64[3]"
    with pytest.raises(at.SizeError) as caught:
        at.fn(source=HEAD + text.format(5))
    assert caught.value.code == "E0311" and "2*g.n = 5" in str(caught.value)
    half = fn("def g(u: f64[2*n]) -> f64[n]:\n    return u[:n]")
    with pytest.raises(at.SizeError, match=r"u axis 0 is 5, but 2\*n is 4 or 6"):
        half.interpret(np.zeros(5))


def test_A27_a_side_condition_fails_where_sizes_are_known() -> None:
    f = fn("def last(x: f64[1 + n]) -> f64:\n    return x[n]")
    assert f.interpret(np.arange(4.0)) == 3.0
    with pytest.raises(at.Error):
        f.interpret(np.zeros(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(a: f64[_, _], v: f64[_]):\n    return mat_vec(a, v)", [I, K, I, K]),
        ("def f(a: f64[_, _], b: f64[_, _]):\n    return map(lambda r: mat_vec(b, r), a)", [I, K, K, D, I, D]),
        ("def f(c: f64, x: f64[_]):\n    return c + 0.0 * x", [I, I]),
        ("def f(x: f64[_], y: f64[_]):\n    return concat(x, y)", [I, K, I + K]),
        ("def f(x: f64[_]):\n    return reverse(x)", [I, I]),
        ("def f(x: f64[_, _]):\n    return transpose(x)", [I, K, K, I]),
        ("def f(x: f64[_, _]):\n    return flatten(x)", [I, K, I * K]),
        ("def f(x: f64[_]):\n    return window(x, 3)", [I + 2, I, poly(3)]),
        ("def f(x: f64[_], y: f64[_]):\n    return x[1:] * y", [I + 1, I, I]),
        ("def f(u: f64[_], v: f64[_]):\n    return map(lambda x: x * v, u)", [I, K, I, K]),
        ("def f(x: f64[_]):\n    return window(window(x, 2), 3)", [I + 3, I, poly(3), poly(2)]),
    ],
)
def test_published_schemes(text: str, expected: list[object]) -> None:
    assert has_scheme(fn(text), expected)
