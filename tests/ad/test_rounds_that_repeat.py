"""Rounds that put the same value again and again, at places that are checked: its adjoint is the sum over the rounds."""

import numpy as np
import pytest

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def put(x: f64[n], w: f64[m]) -> f64:
    for i in range(3):
        x[0] = 2.0 * w[2]
    return sum(x * x)


@at.fn
def added(x: f64[n], w: f64[m]) -> f64:
    for i in range(n):
        x[0] += 2.0 * w[0]
    return sum(x * x)


@at.fn
def twice_used(x: f64[n], w: f64[m]) -> f64:
    y = tanh(w[2])
    for i in range(3):
        s = tanh(w[2])
        x[1] = s * x[1]
        x[0] = 0.5 * s
    return sum(x * x) * y


@at.fn
def until(x: f64[n], w: f64[m]) -> f64:
    k = 0
    while k < 3:
        x[0] += tanh(w[2]) * x[1]
        x[1] = 0.5 * w[1]
        k += 1
    return sum(x * x)


@at.fn
def gathered(x: f64[n], w: f64[m]) -> f64:
    for i in range(n):
        for j in range(2):
            x[(2 * i) % n] += exp(w[1]) * w[0]
    return sum(x * x * x)


@pytest.mark.parametrize("f", [put, added, twice_used, until, gathered], ids=lambda f: f.name)
def test_against_differences(f):
    x, w = np.array([0.3, -0.7, 0.5, 1.1]), np.array([0.4, -0.2, 0.9])
    gx, gw = at.grad(f, wrt=("x", "w"))(x, w)
    for k, (given, found) in enumerate(((x, gx), (w, gw))):
        for place in range(len(given)):
            step = np.zeros_like(given)
            step[place] = 1e-6
            up, down = [x, w], [x, w]
            up[k], down[k] = given + step, given - step
            assert abs((f(*up) - f(*down)) / 2e-6 - found[place]) < 1e-7, (k, place)
