"""Features A1 to A46 of Schenck's thesis (docs/sources.md, Schenck), by number, and rows S28, S29 and L9.

Values are checked in the normal form and as loops, without compilation; structure is checked on the normal form. Where the feature is how another compiler gets there
(accumulators, GPU atomics), the test says what takes its place here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64
from tests.agreement import agree
from tests.fuzz.stages import Stages

n, m, k = at.sizes("n m k")
HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k = at.sizes('n m k')\n@at.fn\n"


def fn(text: str) -> Any:
    return at.fn(source=HEAD + text)


def run(g: Any, *args: Any) -> Any:
    """The value, the same by the interpreter and as loops."""
    return agree(g, *args, compiled=False)


def ainf(g: Any) -> str:
    return g.show("ainf")


SQUARE = "def f(x: f64[n]) -> f64:\n    return sum(x * x)\n"
X = np.array([1.0, 2.0, 3.0])


def test_a1_jvp_a2_vjp_a3_shared() -> None:
    f = fn(SQUARE)
    assert at.jvp(f, X, np.ones(3)) == 12.0
    np.testing.assert_array_equal(at.vjp(f, X, 1.0), 2 * X)
    value, slope = at.vjp2(f, X, 1.0)
    assert value == 14.0 and slope[2] == 6.0
    shared = fn("def g(x: f64[n]) -> (f64, f64[n]):\n    y, d = value_and_grad(lambda z: sum(exp(z)))(x)\n    return y, d\n")
    assert ainf(shared).count("exp(") == 1  # the primal is computed once


def test_a4_nesting_a5_no_confusion() -> None:
    diagonal = fn("def f(x: f64[n]) -> f64[n]:\n    return jvp(lambda y: grad(lambda z: sum(z ** 3))(y), x, ones(n))\n")
    np.testing.assert_allclose(run(diagonal, X), 6 * X)
    confused = fn("def f(x: f64) -> f64:\n    return jvp(lambda x: x * jvp(lambda y: x + y, 1.0, 1.0), x, 1.0)\n")
    assert run(confused, 1.0) == 1.0


def test_a6_dual_numbers_a7_zero_adjoints() -> None:
    """The interpreter computes with dual numbers; what nothing flows into has a zero adjoint of its shape."""
    f = fn("def f(x: f64[n], y: f64[n, m]) -> f64:\n    return sum(x)\n")
    np.testing.assert_array_equal(run(at.grad(f, wrt="y"), X, np.ones((3, 2))), np.zeros((3, 2)))


def test_a8_no_reexecution_a18_perfect_nests() -> None:
    """The derivative of a nest of maps and branches reads its input, never the product again."""
    f = fn("def f(c: at.bool_[n], x: f64[n, m]) -> f64:\n    return sum(sum(v if b else v * v for v in row) for b, row in zip(c, x))\n")
    g = at.grad(f, wrt="x")
    assert "mul(x" not in ainf(g).replace(" ", "").replace("mul(x_1", "")
    np.testing.assert_array_equal(run(g, np.array([True, False]), np.array([[1.0, 2.0], [3.0, 4.0]])), [[1, 1], [6, 8]])


def test_a9_indexing_a10_branches() -> None:
    f = fn("def f(x: f64[n], i: i64) -> f64:\n    return x[i] * x[i] if x[i] > 0.0 else x[0]\n")
    np.testing.assert_array_equal(run(at.grad(f), X, 2), [0, 0, 6])
    np.testing.assert_array_equal(run(at.grad(f), -X, 2), [1, 0, 0])


LOOP = "def f(x: f64, c: f64[n]) -> f64:\n    for i in {}:\n        x = sin(x * c[i])\n    return x\n"


def test_a11_loops_a12_strip_mining() -> None:
    c = np.linspace(0.5, 1.5, 11)
    plain = run(at.grad(fn(LOOP.format("range(n)"))), 0.7, c)
    for depth in (2, 3):
        deep = at.grad(fn(LOOP.format(f"at.loop(n, checkpoint={depth})")))
        np.testing.assert_allclose(run(deep, 0.7, c), plain, rtol=1e-12)


TRUE_DEPENDENCY = "def f(x: f64[n], c: f64[n]) -> f64:\n    for i in at.loop(n - 1{}):\n        x[i + 1] = c[i] * x[i]\n    return x[n - 1]\n"


def test_a13_no_false_dependencies_a14_found_without_asking() -> None:
    """With the promise nothing is logged. Without it, what is overwritten is logged, element by element: never the whole array."""
    c = np.array([2.0, 3.0, 5.0])
    quiet, plain = (at.grad(fn(TRUE_DEPENDENCY.format(option)), wrt=(0, 1)) for option in (", no_false_deps=True", ""))
    for a, b in zip(run(quiet, X, c), run(plain, X, c)):
        np.testing.assert_allclose(a, b)
    assert quiet.residuals().bytes.degree() <= 1 and plain.residuals().bytes.degree() <= 1


WHILE = "def f(x: f64) -> f64:\n    while {}:\n        x = x * 2.0\n    return x\n"


def test_a15_bound_a16_inspector() -> None:
    for condition in ("x < 100.0", "at.bound(10) and x < 100.0"):
        assert run(at.grad(fn(WHILE.format(condition))), 3.0) == 64.0


def test_a17_l9_state_that_changes_its_shape_is_refused() -> None:
    with pytest.raises(at.Error) as error:
        fn("def f(x: f64[n]) -> f64:\n    for i in range(3):\n        x = concat(x, x)\n    return sum(x)\n")
    assert error.value.code == "E0301" or isinstance(error.value, at.SizeError)


def test_a19_nests_of_loops() -> None:
    f = fn("def f(x: f64[n, m]) -> f64:\n    s = 1.0\n    for i in range(n):\n        for j in range(m):\n            s = s * x[i, j]\n    return s\n")
    np.testing.assert_allclose(run(at.grad(f), np.array([[1.0, 2.0], [3.0, 4.0]])), [[24, 12], [8, 6]])


def test_a20_additive_loops_keep_nothing() -> None:
    f = fn("def f(x: f64[n]) -> f64:\n    s = 0.0\n    for v in x:\n        s = s + 2.0 * v\n    return s\n")
    g = at.grad(f)
    assert len(g.residuals()) == 0 and "tape" not in ainf(g)
    np.testing.assert_array_equal(run(g, X), [2, 2, 2])


REDUCTIONS = {  # feature -> operator, values, gradient
    "a21": ("reduce(lambda a, b: a + b + a * b, 0.0, x)", X, [12, 8, 6]),
    "a22": ("reduce(add, 0.0, x)", X, [1, 1, 1]),
    "a23": ("reduce(minimum, inf, x)", np.array([3.0, 1.0, 1.0]), [0, 1, 0]),
    "a24_one_zero": ("reduce(mul, 1.0, x)", np.array([2.0, 0.0, 4.0]), [0, 8, 0]),
    "a24_two_zeros": ("reduce(mul, 1.0, x)", np.array([0.0, 0.0, 4.0]), [0, 0, 0]),
    "a28": ("sum(scan(lambda a, b: a + b + a * b, 0.0, x))", X, [16, 10, 6]),
    "a27_add": ("hist(add, 0.0, 2, [0, 1, 0], x)[0]", X, [1, 0, 1]),
    "a27_mul": ("hist(mul, 1.0, 2, [0, 1, 0], x)[0]", X, [3, 0, 1]),
    "a27_max": ("hist(maximum, -inf, 2, [0, 1, 0], x)[0]", X, [0, 0, 1]),
    "a26": ("hist(lambda a, b: a + b + a * b, 0.0, 2, [0, 1, 0], x)[0]", X, [4, 0, 2]),
    "a33": ("sum([v * v for v in x])", X, [2, 4, 6]),
    "a35": ("sum(sum(x[j] for j in range(3)) for i in range(2))", X, [2, 2, 2]),
    "s28": ("sum(a * b for a, b in zip(hist(add, 0.0, 3, [0, 2, 0], x), [1.0, 10.0, 100.0]))", X, [1, 100, 1]),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    body, x, expected = REDUCTIONS[name]
    np.testing.assert_allclose(run(at.grad(fn(f"def f(x: f64[3]) -> f64:\n    return {body}\n")), x), expected)


def test_a25_free_variables_in_operators() -> None:
    f = fn("def f(x: f64[n], c: f64) -> f64:\n    return reduce(lambda a, b: a + b + c * a * b, 0.0, x)\n")
    assert np.isclose(run(at.grad(f, wrt="c"), np.array([1.0, 2.0, 3.0, 4.0]), 0.5), 103.0)


def test_a29_scans_of_tuples() -> None:
    f = fn("def f(x: f64[n], y: f64[n]) -> f64:\n    s = scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), zip(x, y))\n    return sum(a + b for a, b in s)\n")
    dx, dy = run(at.grad(f, wrt=(0, 1)), np.array([2.0, 3.0, 5.0]), np.array([1.0, 4.0, 6.0]))
    np.testing.assert_allclose([dx, dy], [[19, 18, 13], [19, 6, 1]])


def test_a30_a31_vectorised_scans() -> None:
    f = fn("def f(x: f64[n, m]) -> f64:\n    return sum(scan(rep(add), zeros(m), x), axis=None)\n")
    np.testing.assert_array_equal(run(at.grad(f), np.ones((3, 2))), [[3, 3], [2, 2], [1, 1]])


def test_a32_scatter_keeps_the_old_array_readable() -> None:
    f = fn("def f(x: f64[4], v: f64[2]) -> f64:\n    y = scatter(x, [2, 0], v)\n    return sum(y * y) + sum(x * x)\n")
    x, v = np.array([1.0, 2.0, 3.0, 4.0]), np.array([10.0, 20.0])
    dx, dv = run(at.grad(f, wrt=(0, 1)), x, v)
    np.testing.assert_array_equal(dx, [2, 8, 6, 16])
    np.testing.assert_array_equal(dv, [20, 40])


def test_a34_free_arrays_a37_several_axes() -> None:
    """What a map reads at a computed index is added up by one scatter in a fixed order; no accumulator has a run-time form."""
    f = fn("def f(x: f64[n, m], i: i64[k]) -> f64:\n    return sum(x[j % n, j % m] * 2.0 for j in i)\n")
    g = at.grad(f)
    assert ainf(g).count("scatter") == 1
    np.testing.assert_array_equal(run(g, np.ones((2, 2)), np.array([0, 0, 1])), [[4, 0], [0, 2]])


def test_a36_s29_reading_an_array_while_it_is_added_to() -> None:
    """Arrays are values: what is read is the array of before, in the gradient too, so there is nothing to check."""
    f = fn("def f(x: f64[n]) -> f64:\n    y = copy(x)\n    for i in range(n):\n        y[i] += x[0] * y[0]\n    return sum(y)\n")
    x = np.array([2.0, 3.0])
    g = at.grad(f)
    step = 1e-6
    expected = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(2)]
    np.testing.assert_allclose(run(g, x), expected, rtol=1e-6)


def test_a38_accumulation_becomes_sums() -> None:
    """The derivative of a matrix product is two matrix products: sums, no scatter."""
    f = fn("def f(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return a @ b\n")
    g = fn("def g(a: f64[n, k], b: f64[k, m], d: f64[n, m]):\n    return vjp(lambda a, b: a @ b, (a, b), d)\n")
    assert f is not None
    assert "scatter" not in ainf(g) and ainf(g).count(" = add ") == 2


def test_a39_contractions_are_tiled() -> None:
    """Both products of the derivative go to the same kernel as the product itself."""
    g = fn("def g(a: f64[n, k], b: f64[k, m], d: f64[n, m]):\n    return vjp(lambda a, b: a @ b, (a, b), d)\n")
    a, b, d = np.ones((3, 2)), np.ones((2, 4)), np.ones((3, 4))
    da, db = g(a, b, d)
    np.testing.assert_array_equal(da, d @ b.T)
    np.testing.assert_array_equal(db, a.T @ d)


def test_a40_no_atomics_a41_sequential() -> None:
    """Scatters run in order: the same bits for every number of threads, and no atomic operation in the C."""
    f = fn("def f(x: f64[m], i: i64[n], v: f64[n]) -> f64:\n    return sum(x[j % m] * a for j, a in zip(i, v))\n")
    g = at.grad(f)
    assert "atomic" not in g.show("c")


def test_a42_sparsity_by_seeds() -> None:
    """A diagonal Jacobian with one product: the seed is all ones."""
    f = fn("def f(x: f64[n]) -> f64[n]:\n    return sin(x) * x\n")
    np.testing.assert_allclose(at.jvp(f, X, np.ones(3)), np.diag(at.jacfwd(f)(X)))


def test_a43_supplied_derivatives() -> None:
    @at.fn
    def f(x: f64) -> f64:
        return log1p(exp(x))

    @f.def_vjp
    @at.fn
    def back(x: f64, dy: f64) -> f64:
        return dy / (1.0 + exp(-x))

    assert "log1p" not in at.grad(f).show("ainf") and at.grad(f).interpret(0.0) == 0.5


def test_a44_functions_of_functions() -> None:
    f = fn("def f(x: f64[n]) -> f64:\n    twice = lambda g, v: g(g(v))\n    return sum(twice(lambda u: u * u, v) for v in x)\n")
    np.testing.assert_allclose(run(at.grad(f), X), 4 * X**3)


def test_a46_memory_is_told() -> None:
    kept = at.grad(fn(LOOP.format("range(n)"))).residuals()
    assert len(kept) == 1 and repr(kept.bytes) == "8*n"
    assert len(at.grad(fn(SQUARE)).residuals()) == 0


def test_stages_agree_on_a_gradient() -> None:
    g = at.grad(fn(LOOP.format("range(n)")))
    args = (0.7, np.linspace(0.5, 1.5, 5))
    assert np.isclose(Stages(g).run_loops(args, 3)[0], g.interpret(*args))
