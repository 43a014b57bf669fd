"""Derivatives asked for from Python: of built-in functions, of constants in complex numbers, rules of one's own for arrays of tuples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import atoll as at
from atoll import f64

n = at.sizes("n")


@pytest.mark.parametrize("sine", [at.sin, np.sin, math.sin], ids=["atoll", "numpy", "math"])
def test_of_a_scalar_function(sine: object) -> None:
    assert np.isclose(at.grad(sine)(0.5), np.cos(0.5))
    assert np.isclose(at.hessian(sine)(0.5), -np.sin(0.5))
    assert np.isclose(at.vjp(sine, 0.5, 2.0), 2.0 * np.cos(0.5))
    assert at.grad(sine).type == "grad_sin(x: f64) -> f64"


def test_of_a_scalar_function_of_two() -> None:
    assert np.allclose(at.grad(at.hypot, wrt=(0, 1))(3.0, 4.0), (0.6, 0.8))


@at.fn
def stopped(x: f64) -> f64:
    z = complex(stop(x), 1.0)
    return abs(z * z) * x + z.imag


def test_complex_numbers_that_are_constants() -> None:
    assert np.isclose(at.grad(stopped)(2.0), 5.0) and np.isclose(at.jvp(stopped, 2.0, 1.0), 5.0)
    assert at.grad(stopped).interpret(2.0) == at.grad(stopped)(2.0)


@at.fn
def steps(x: f64) -> f64:
    return floor(x) * x + round(x * 2.0) * x + sign(x) * x


def test_what_has_no_slope_is_a_constant() -> None:
    assert at.grad(steps)(1.7) == 1.0 + 3.0 + 1.0
    assert at.hessian(steps)(1.7) == 0.0


@at.fn
def products(p: at.Tuple[f64, f64][n]) -> f64:
    return sum(a * b for a, b in p)


def test_a_rule_for_an_array_of_tuples() -> None:
    rule = at.fn(
        source="""
import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def rule(p: at.Tuple[f64, f64][n], dy: f64) -> at.Tuple[f64, f64][n]:
    return [(b * dy, a * dy) for a, b in p]
"""
    )
    products.def_vjp(rule)
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert np.array_equal(np.array(at.grad(products)((a, b))), np.array([b, a]))


def test_numbers_of_arguments_that_were_right_are_taken() -> None:
    """Keywords of the functions themselves work as in Python."""
    assert at.jvp(at.exp, x=0.0, dx=2.0) == 2.0
    assert at.grad(f=at.exp, wrt="x")(0.0) == 1.0


@at.fn
def turned(x: f64, up: at.bool_, i: at.i64[n]) -> f64:
    return (x if up else -x) * sum(i)


def test_any_zero_is_the_tangent_of_an_integer() -> None:
    point = 2.0, True, np.arange(3)
    for zero in (0, False, 0.0):
        assert at.jvp(turned, point, (1.0, zero, np.zeros(3))) == 3.0
    assert at.jvp(turned, point, (1, False, np.zeros(3, np.int64))) == 3.0


def test_positions_of_numpy() -> None:
    assert at.grad(turned, wrt=np.int64(0))(2.0, True, np.arange(3)) == 3.0


RULE_OF_RECORDS = """
import atoll as at
from atoll import f64
m = at.sizes("m")
@at.record
class Scaled:
    a: f64[m]
    b: f64
@at.fn
def g(r: Scaled, w: f64[m]) -> (f64, f64[m]):
    return r.b * sum(r.a * w), r.a * r.b
@g.def_vjp
@at.fn
def back(r: Scaled, w: f64[m], dy: (f64, f64[m])) -> (Scaled, f64[m]):
    return Scaled(dy[0] * r.b * w + dy[1] * r.b, dy[0] * sum(r.a * w) + sum(dy[1] * r.a)), dy[0] * r.b * r.a
@g.def_jvp
@at.fn
def along(r: Scaled, w: f64[m], dr: Scaled, dw: f64[m]) -> (f64, f64[m]):
    return sum(r.a * w) * dr.b + r.b * sum(dr.a * w + r.a * dw), dr.a * r.b + r.a * dr.b
@at.fn
def use(a: f64[m], w: f64[m]) -> f64:
    s = 0.0
    for t in range(4):
        y, a = g(Scaled(a, 0.5 + 0.1 * t), w)
        s = s + y * y
    return s
"""


def test_a_rule_for_records_in_a_loop() -> None:
    use = at.fn(source=RULE_OF_RECORDS)
    plain = at.fn(source=RULE_OF_RECORDS.replace("@g.def_vjp\n", "").replace("@g.def_jvp\n", ""))
    point = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, -0.5])
    assert np.allclose(at.grad(use, wrt=(0, 1))(*point), at.grad(plain, wrt=(0, 1))(*point))
    assert np.allclose(at.hessian(use)(*point), at.hessian(plain)(*point))
