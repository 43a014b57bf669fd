"""Second derivatives where first ones need care: products with zeros, powers at zero."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def whole(x: f64[n]) -> f64:
    return prod(x)


@at.fn
def rows(a: f64[n, m]) -> f64:
    return sum(prod(r) * (1.0 + i) for i, r in enumerate(a))


@at.fn
def polynomial(c: f64[n], x: f64) -> f64:
    return sum(c[i] * x**i for i in range(n))


@at.fn
def power(x: f64, p: f64) -> f64:
    return x**p


def test_product_with_zeros():
    assert np.array_equal(at.hessian(whole)(np.array([2.0, 0.0, 3.0])), [[0, 3, 0], [3, 0, 2], [0, 2, 0]])
    assert np.array_equal(at.hessian(whole)(np.array([0.0, 0.0, 3.0])), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    assert np.array_equal(at.grad(whole)(np.array([5.0])), [1.0]) and at.grad(whole)(np.zeros(0)).shape == (0,)


def test_products_of_rows():
    a = np.random.default_rng(0).random((4, 3))
    a[1, 2] = a[2, 0] = a[2, 1] = 0
    found = at.hessian(rows)(a)
    for place in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[place] = 1e-6
        assert np.allclose(found[place], (at.grad(rows)(a + step) - at.grad(rows)(a - step)) / 2e-6, atol=1e-8)


def test_polynomials_at_zero():
    c = np.array([1.0, 2.0, 3.0])
    assert at.grad(polynomial, wrt="x")(c, 0.0) == 2 and at.hessian(polynomial, wrt="x")(c, 0.0) == 6


@pytest.mark.parametrize(("p", "first", "second"), [(0.0, 0, 0), (1.0, 1, 0), (2.0, 0, 2), (3.0, 0, 0)])
def test_powers_at_zero(p, first, second):
    assert at.grad(power, wrt="x")(0.0, p) == first and at.hessian(power, wrt="x")(0.0, p) == second
    assert at.jvp(power, (0.0, p), (1.0, 0.0)) == first


def test_the_exponent_may_count():
    @at.fn
    def f(x: f64, k: i64) -> f64:
        return x ** f64(k)

    assert [at.grad(f, wrt="x")(0.0, k) for k in range(3)] == [0, 1, 0]
