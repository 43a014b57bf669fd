"""Calls from Python lift as calls in a body do; at.vmap says it; gradients of structures; at.tree; pickling of what is made of functions."""

from __future__ import annotations

import concurrent.futures
import itertools
import multiprocessing
import pickle

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64

n, m = at.sizes("n m")
A = np.arange(6.0).reshape(2, 3)
X = np.array([1.0, -2.0, 0.5])


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def both(x: f64[n, m], k: i64 = 2) -> (f64[n], f64):
    return sum(x) * k, x[0, 0]


@at.fn
def inferred(u: f64[at._], v: f64[at._]):
    return u - 2.0 * v


@at.record
class Line:
    slope: f64[n]
    offset: f64


@at.fn
def line(p: Line, x: f64[n]) -> Line:
    return Line(p.slope * x, p.offset + sum(x))


@at.fn
def fib(k: i64) -> i64:
    return k if k < 2 else fib(k - 1) + fib(k - 2)


@at.fn
def inside(a: f64[m, n], x: f64[n]) -> f64[m]:
    return dot(a, x)


def oracle(f, ranks, args):
    """f by loops in Python: an argument varies in as many of the innermost levels as it has axes too many."""
    extra = [np.ndim(x) - r for x, r in zip(args, ranks)]
    if max(extra) == 0:
        return f(*args)
    varying = [k for k, e in enumerate(extra) if e == max(extra)]
    count = len(args[varying[0]])
    parts = [oracle(f, ranks, [x[i] if k in varying else x for k, x in enumerate(args)]) for i in range(count)]
    return tuple(map(np.stack, zip(*parts))) if isinstance(parts[0], tuple) else np.stack(parts)


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_by_ranks(how):
    rng = np.random.default_rng(0)
    for f, ranks, shapes in [(dot, (1, 1), ((3,), (3,))), (inferred, (1, 1), ((3,), (3,))), (both, (2, 0), ((2, 3), ()))]:
        call = f if how == "compiled" else f.interpret
        for first, second in itertools.product(range(3), range(2)):
            batches = [(4, 2)[2 - first :], (4, 2)[2 - second :]]
            args = [rng.integers(-5, 5, b + s).astype("i8" if f is both and k else "f8") for k, (b, s) in enumerate(zip(batches, shapes))]
            args = [x if x.ndim else x[()] for x in args]
            found, expected = call(*args), oracle(f, ranks, args)
            for a, b in zip(*((y if isinstance(y, tuple) else (y,)) for y in (found, expected))):
                np.testing.assert_array_equal(a, b)
                assert np.asarray(a).dtype == np.float64


def test_as_a_call_in_a_body_does():
    np.testing.assert_array_equal(dot(A, X), inside(A, X))
    assert dot(X, 2.0) == sum(2.0 * X)  # repeated: the other argument says how often
    assert dot(np.float64(2.0), X) == sum(2.0 * X)
    np.testing.assert_array_equal(fib(np.arange(8)), [0, 1, 1, 2, 3, 5, 8, 13])
    assert dot(np.zeros((0, 3)), X).shape == (0,) and dot(np.zeros((2, 0)), np.zeros(0)).tolist() == [0.0, 0.0]
    with pytest.raises(at.SizeError, match="size batch is 2 in argument u .axis 0. but 3 in argument v .axis 0."):
        dot(A, np.ones((3, 3)))
    with pytest.raises(at.SizeError, match="size n is 3"):
        dot(A, np.ones(4))
    with pytest.raises(at.TypeError, match="E0603: dot: argument u must have dtype f64, not f32"):
        dot(A.astype("f4"), X)
    with pytest.raises(at.TypeError, match="E0602: dot: argument v must be f64.n., not a list"):
        dot(A, [1.0])
    with pytest.raises(at.TypeError, match="E0602: dot: argument u must be f64.n., not a float"):
        dot(1.0, 2.0)  # nothing says how often


def test_records_lift_by_all_their_parts():
    found = line(Line(A, np.array([1.0, 2.0])), X)
    np.testing.assert_array_equal(found.slope, A * X)
    np.testing.assert_array_equal(found.offset, np.array([1.0, 2.0]) + sum(X))
    found = line(Line(X, 1.0), A)
    np.testing.assert_array_equal(found.slope, A * X)
    with pytest.raises(at.TypeError, match=r"E0608: line: argument p.slope must have 1 axis"):
        line(Line(A, 1.0), X)


def test_one_version_for_each_combination_of_ranks():
    f = at.fn(source="import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef twice(x: f64[n]) -> f64[n]:\n    return x + x\n")
    for shape in [(3,), (2, 3), (5, 3), (2, 2, 3), (1, 1, 1)]:
        np.testing.assert_array_equal(f(np.ones(shape)), np.full(shape, 2.0))
    assert len(f._derived) == 2


# -- vmap


def test_vmap_axes():
    B = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(at.vmap(dot, in_axes=(None, 1))(X, B), X @ B)
    np.testing.assert_array_equal(at.vmap(dot, in_axes=(None, -1))(X, B), X @ B)
    np.testing.assert_array_equal(at.vmap(at.vmap(dot, (None, 1)), (0, None))(A, B), A @ B)
    np.testing.assert_array_equal(at.vmap(at.vmap(dot, (None, 1)), (0, None), out_axes=1)(A, B), (A @ B).T)
    rows, corner = at.vmap(both, in_axes=(1, None), out_axes=(1, 0))(np.arange(24.0).reshape(2, 4, 3), 1)
    expected = np.arange(24.0).reshape(2, 4, 3).sum(2)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(corner, [0.0, 3.0, 6.0, 9.0])
    made = at.vmap(line, in_axes=(-1, None), out_axes=-1)(Line(A.T.copy(), np.array([1.0, 2.0])), X)
    np.testing.assert_array_equal(made.slope, (A * X).T)
    assert at.vmap(dot, in_axes=(0, None)).type == "vmap_dot(u: f64[batch, n], v: f64[n]) -> f64[batch]"
    assert at.vmap(dot)(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)


@at.fn
def in_a_body(a: f64[m, n], b: f64[n, m]) -> f64[m]:
    return vmap(dot, in_axes=(0, 1))(a, b)


@at.fn
def total(a: f64[m, n], x: f64[n]) -> f64:
    return sum(vmap(lambda r: sum(r * x) ** 2)(a))


def test_vmap_in_bodies_and_with_derivatives():
    B = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(in_a_body(A, B), np.diag(A @ B))
    np.testing.assert_allclose(at.grad(total)(A, X), 2 * np.outer(A @ X, X))
    each = at.vmap(at.grad(dot), in_axes=(None, 0))
    np.testing.assert_array_equal(each(X, A), A)
    np.testing.assert_array_equal(at.jacrev(at.vmap(dot, in_axes=(0, None)), wrt=1)(A, X), A)
    value, slope = at.jvp2(at.vmap(dot), (A, A), (A, np.zeros_like(A)))
    np.testing.assert_array_equal(value, slope)


# -- gradients of structures


@at.fn
def loss(p: Line, t: f64[n]) -> (f64, (f64[n], i64)):
    r = p.slope * p.offset - t
    return sum(r * r), (log(t), n)


@at.fn
def step(p: Line, t: f64[n], rate: f64) -> (Line, f64):
    (value, _), d = value_and_grad(loss, has_aux=True)(p, t)
    return at.tree.map(lambda a, b: a - rate * b, p, d), value


@at.fn
def network(p: ((f64[n, m], f64[m]), f64[m]), x: f64[n]) -> f64:
    (w, b), out = p
    return sum(tanh(x @ w + b) * out)


def test_has_aux():
    p, t = Line(X, 2.0), np.array([0.0, 1.0, 2.0])
    slope, (logs, count) = at.grad(loss, has_aux=True)(p, t)
    np.testing.assert_allclose(slope.slope, 4.0 * (2 * X - t))
    np.testing.assert_allclose(slope.offset, sum(2 * X * (2 * X - t)))
    assert logs[0] == -np.inf and count == 3  # what stands beside the number does not spoil its derivative
    (value, _), other = at.value_and_grad(loss, has_aux=True)(p, t)
    assert value == sum((2 * X - t) ** 2) and other == slope
    moved, value2 = step(p, t, 0.1)
    assert value2 == value and isinstance(moved, Line)
    np.testing.assert_allclose(moved.slope, X - 0.1 * slope.slope)
    with pytest.raises(at.TypeError, match="E1029"):
        at.grad(dot, has_aux=True)
    with pytest.raises(at.TypeError, match="E1029"):
        at.grad(loss, has_aux=1)


def test_gradients_are_shaped_like_structures():
    W = [[np.full((3, 2), 0.1), np.zeros(2)], np.array([1.0, -1.0])]  # lists where tuples are declared
    d = at.grad(network)(W, X)
    assert [x.shape for x in at.tree.leaves(d)] == [(3, 2), (2,), (2,)]
    moved = at.tree.map(lambda a, b: a - 0.5 * b, W, d)
    assert isinstance(moved, list) and isinstance(moved[0], list)
    assert network(moved, X) < network(W, X)


def test_tree():
    tree = (1, [2.0, {"b": 3, "a": 4}], Line(5, 6))
    assert at.tree.leaves(tree) == [1, 2.0, 3, 4, 5, 6]
    assert at.tree.map(lambda x: x + 1, tree) == (2, [3.0, {"b": 4, "a": 5}], Line(6, 7))
    assert at.tree.zip((1, [2]), (3, (4,))) == ((1, 3), [(2, 4)])
    assert at.tree.unflatten(tree, range(6)) == (0, [1, {"b": 2, "a": 3}], Line(4, 5))
    for a, b in [((1, 2), (1,)), (Line(1, 2), (1, 2)), ({"a": 1}, {"b": 1}), (1, (1,))]:
        with pytest.raises(at.TypeError, match="E1032"):
            at.tree.map(max, a, b)
    with pytest.raises(at.TypeError, match="E1032"):
        at.tree.unflatten(tree, [1])


# -- pickling

slope_of_total = at.grad(total)
every = at.vmap(at.value_and_grad(dot), in_axes=(0, None))
left_to_right = at.fn(reassociate=False)(dot)


@pytest.mark.parametrize("f", [slope_of_total, every, at.hessian(total, wrt="x"), at.grad(at.grad(total, wrt="x") and total, wrt=("a", "x")), left_to_right, at.grad(loss, has_aux=True)])
def test_what_is_made_of_functions_is_pickled(f):
    found = pickle.loads(pickle.dumps(f))
    assert found is f or (found.type == f.type and found.options == f.options)


def test_process_pools():
    for start in ("fork", "spawn"):
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
            np.testing.assert_allclose(pool.submit(slope_of_total, A, X).result(60), slope_of_total(A, X))


def test_joblib():
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(slope_of_total)(k * A, X) for k in range(3))
    np.testing.assert_allclose(found[2], slope_of_total(2 * A, X))


def test_single_precision_stays():
    f = at.fn(source="import atoll as at\nfrom atoll import f32\nn = at.sizes('n')\n@at.fn\ndef mid(x: f32[n]) -> f32:\n    return sum(x) / n\n")
    assert f(np.ones((2, 3), "f4")).dtype == np.float32
    assert f32 is at.f32
