"""Whatever a user calls things, C does not mind: its keywords, macros and functions, and names the compiler makes itself."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

NAMES = ["at", "memcpy", "INT64_MAX", "_Complex", "status", "double", "result", "λ", "int64_t", "size_t", "tanhf", "uint8_t"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name(name):
    f = at.fn(
        source=f"""
import atoll as at
from atoll import f64, i64
n = at.sizes("n")
@at.fn
def f({name}: f64[n], {name}_: f64[n], y: i64) -> f64[n]:
    for i in range(y):
        {name} = [{name}[j] * 2 + scan(add, 0.0, {name})[j] + {name}_[j] for j in range(n)]
    return [sum({name}[i] for i in range(y)) + {name}[0] for q in {name}]
"""
    )
    x, z = np.arange(3.0), np.ones(3)
    np.testing.assert_allclose(f(x, z, 2), f.interpret(x, z, 2))


@at.record
class Body:
    position: f64
    velocity: f64


@at.fn
def step(b: Body, dt: f64) -> Body:
    return Body(position=b.position + dt * b.velocity, velocity=b.velocity - dt * b.position)


@at.fn
def simulate(b: Body, rounds: i64) -> Body:
    for i in range(rounds):
        b = step(b, 0.001)
    return b


def test_leaves_of_a_parameter_that_is_loop_state():
    """The second leaf of b and the next value of its first were both called b_1."""
    found, expected = simulate(Body(1.0, 0.0), 9), simulate.interpret(Body(1.0, 0.0), 9)
    assert (found.position, found.velocity) == (expected.position, expected.velocity)
