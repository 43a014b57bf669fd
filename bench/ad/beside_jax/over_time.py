"""Loops: recurrences, stencils over time, differential equations, recurrent cells, filters, dynamic programs."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.ad.beside_jax.program import Program, jnp, lax, sized

n, m, k = at.sizes("n m k")


def over(step, state, xs=None, rounds=None):  # type: ignore[no-untyped-def]
    """The state after all rounds, by lax.scan, which has a derivative backwards."""
    return lax.scan(lambda s, x: (step(s, x), None), state, xs, length=rounds)[0]


@at.fn
def heat_1d(x: f64[n], steps: i64) -> f64:
    for t in range(steps):
        x[1:-1] = x[1:-1] + 0.2 * (x[:-2] - 2.0 * x[1:-1] + x[2:])
    return sum(x * x)


def heat_1d_jax(x, steps):  # type: ignore[no-untyped-def]
    return jnp.sum(over(lambda x, _: x.at[1:-1].add(0.2 * (x[:-2] - 2.0 * x[1:-1] + x[2:])), x, rounds=steps) ** 2)


@at.fn
def heat_2d(x: f64[n, m], steps: i64) -> f64:
    for t in range(steps):
        x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return sum(x * x, axis=None)


def heat_2d_jax(x, steps):  # type: ignore[no-untyped-def]
    return jnp.sum(over(lambda x, _: x.at[1:-1, 1:-1].set(0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])), x, rounds=steps) ** 2)


@at.fn
def burgers(u: f64[n], steps: i64) -> f64:
    for t in range(steps):
        u = [u[i] - 0.1 * u[i] * (u[i] - u[(i - 1) % n]) + 0.05 * (u[(i + 1) % n] - 2.0 * u[i] + u[(i - 1) % n]) for i in range(n)]
    return sum(u * u)


def burgers_jax(u, steps):  # type: ignore[no-untyped-def]
    def step(u, _):  # type: ignore[no-untyped-def]
        left, right = jnp.roll(u, 1), jnp.roll(u, -1)
        return u - 0.1 * u * (u - left) + 0.05 * (right - 2.0 * u + left)

    return jnp.sum(over(step, u, rounds=steps) ** 2)


@at.fn
def wave(u: f64[n], c: f64[n], steps: i64) -> f64:
    before = u
    for t in range(steps):
        after = [2.0 * u[i] - before[i] + (c[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]) if 0 < i and i < n - 1 else 0.0) for i in range(n)]
        before = u
        u = after
    return sum(u * u)


def wave_jax(u, c, steps):  # type: ignore[no-untyped-def]
    def step(state, _):  # type: ignore[no-untyped-def]
        u, before = state
        bend = jnp.zeros_like(u).at[1:-1].set(c[1:-1] * (u[:-2] - 2.0 * u[1:-1] + u[2:]))
        return 2.0 * u - before + bend, u

    return jnp.sum(over(step, (u, u), rounds=steps)[0] ** 2)


@at.fn
def predator_prey(p: f64[4], steps: i64) -> f64:
    x, y = 1.0, 0.5
    s = 0.0
    for t in range(steps):
        dx = p[0] * x - p[1] * x * y
        dy = p[2] * x * y - p[3] * y
        x, y = x + 0.01 * dx, y + 0.01 * dy
        s += (x - 1.0) ** 2 + (y - 1.0) ** 2
    return s


def predator_prey_jax(p, steps):  # type: ignore[no-untyped-def]
    def step(state, _):  # type: ignore[no-untyped-def]
        x, y, s = state
        dx, dy = p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y
        x, y = x + 0.01 * dx, y + 0.01 * dy
        return x, y, s + (x - 1.0) ** 2 + (y - 1.0) ** 2

    return over(step, (1.0, 0.5, 0.0), rounds=steps)[2]


@at.fn
def pendulum(q: f64[n], steps: i64) -> f64:
    v = zeros(n)
    for t in range(steps):
        v = v - 0.05 * sin(q)
        q = q + 0.05 * v
    return sum(q * q)


def pendulum_jax(q, steps):  # type: ignore[no-untyped-def]
    def step(state, _):  # type: ignore[no-untyped-def]
        q, v = state
        v = v - 0.05 * jnp.sin(q)
        return q + 0.05 * v, v

    return jnp.sum(over(step, (q, jnp.zeros_like(q)), rounds=steps)[0] ** 2)


@at.fn
def recurrent(w: f64[k, k], u: f64[k, m], x: f64[n, m]) -> f64:
    h = zeros(k)
    s = 0.0
    for t in range(n):
        h = tanh(w @ h + u @ x[t])
        s += sum(h * h)
    return s


def recurrent_jax(w, u, x):  # type: ignore[no-untyped-def]
    def step(state, row):  # type: ignore[no-untyped-def]
        h = jnp.tanh(w @ state[0] + u @ row)
        return h, state[1] + jnp.sum(h * h)

    return over(step, (jnp.zeros(w.shape[0]), 0.0), x)[1]


@at.fn
def gated(w: f64[k, k], u: f64[k, k], x: f64[n, k]) -> f64:
    h = zeros(k)
    for t in range(n):
        z = 1.0 / (1.0 + exp(-(w @ h + x[t])))
        h = z * h + (1.0 - z) * tanh(u @ h + x[t])
    return sum(h * h)


def gated_jax(w, u, x):  # type: ignore[no-untyped-def]
    def step(h, row):  # type: ignore[no-untyped-def]
        z = 1.0 / (1.0 + jnp.exp(-(w @ h + row)))
        return z * h + (1.0 - z) * jnp.tanh(u @ h + row)

    return jnp.sum(over(step, jnp.zeros(w.shape[0]), x) ** 2)


@at.fn
def smoothing(a: f64, x: f64[n]) -> f64:
    level, s = x[0], 0.0
    for v in x:
        s += (v - level) ** 2
        level = a * v + (1.0 - a) * level
    return s


def smoothing_jax(a, x):  # type: ignore[no-untyped-def]
    return over(lambda state, v: (a * v + (1.0 - a) * state[0], state[1] + (v - state[0]) ** 2), (x[0], 0.0), x)[1]


@at.fn
def volatility(p: f64[3], x: f64[n]) -> f64:
    h, s = 1.0, 0.0
    for v in x:
        s += log(h) + v * v / h
        h = p[0] + p[1] * v * v + p[2] * h
    return s


def volatility_jax(p, x):  # type: ignore[no-untyped-def]
    return over(lambda state, v: (p[0] + p[1] * v * v + p[2] * state[0], state[1] + jnp.log(state[0]) + v * v / state[0]), (1.0, 0.0), x)[1]


@at.fn
def hidden_markov(a: f64[k, k], e: f64[n, k]) -> f64:
    p = [1.0 / k for j in range(k)]
    s = 0.0
    for t in range(n):
        q = [sum(p[i] * a[i, j] for i in range(k)) * e[t, j] for j in range(k)]
        total = sum(q)
        s += log(total)
        p = q / total
    return s


def hidden_markov_jax(a, e):  # type: ignore[no-untyped-def]
    def step(state, row):  # type: ignore[no-untyped-def]
        q = (state[0] @ a) * row
        total = jnp.sum(q)
        return q / total, state[1] + jnp.log(total)

    return over(step, (jnp.full(a.shape[0], 1.0 / a.shape[0]), 0.0), e)[1]


@at.fn
def soft_time_warp(x: f64[n], y: f64[m]) -> f64:
    row = [0.0 if j == 0 else 1e3 for j in range(m + 1)]
    for i in range(n):
        new = [1e3 for j in range(m + 1)]
        for j in range(m):
            a, b, c = row[j], row[j + 1], new[j]
            low = minimum(a, minimum(b, c))
            new[j + 1] = (x[i] - y[j]) ** 2 + low - log(exp(low - a) + exp(low - b) + exp(low - c))
        row = new
    return row[m]


def soft_time_warp_jax(x, y):  # type: ignore[no-untyped-def]
    def row_step(row, v):  # type: ignore[no-untyped-def]
        def element(left, given):  # type: ignore[no-untyped-def]
            a, b, w = given
            low = jnp.minimum(a, jnp.minimum(b, left))
            new = (v - w) ** 2 + low - jnp.log(jnp.exp(low - a) + jnp.exp(low - b) + jnp.exp(low - left))
            return new, new

        _, new = lax.scan(element, 1e3, (row[:-1], row[1:], y))
        return jnp.concatenate([jnp.full(1, 1e3), new])

    return over(row_step, jnp.full(len(y) + 1, 1e3).at[0].set(0.0), x)[-1]


@at.fn
def put_option(price: f64, rate: f64, steps: i64, levels: f64[n]) -> f64:
    w = maximum(1.0 - price * levels, 0.0)
    for t in range(steps):
        w[:-1] = (1.0 - rate) * (0.55 * w[1:] + 0.45 * w[:-1])
    return w[0]


def put_option_jax(price, rate, steps, levels):  # type: ignore[no-untyped-def]
    return over(lambda w, _: w.at[:-1].set((1.0 - rate) * (0.55 * w[1:] + 0.45 * w[:-1])), jnp.maximum(1.0 - price * levels, 0.0), rounds=steps)[0]


@at.fn
def newton_root(a: f64[n], steps: i64) -> f64:
    x = [1.0 + v for v in a]
    for t in range(steps):
        x = x - (x * x * x - a) / (3.0 * x * x)
    return sum(x)


def newton_root_jax(a, steps):  # type: ignore[no-untyped-def]
    return jnp.sum(over(lambda x, _: x - (x * x * x - a) / (3.0 * x * x), 1.0 + a, rounds=steps))


def _of(size: int, *rest: object):  # type: ignore[no-untyped-def]
    return lambda g, s: (g.random(sized(size, s)), *rest)


PROGRAMS = [
    Program("heat, 1-d", heat_1d, heat_1d_jax, (0,), _of(2000, 100)),
    Program("heat, 2-d", heat_2d, heat_2d_jax, (0,), lambda g, s: (g.random((sized(150, s), sized(150, s))), 30)),
    Program("burgers", burgers, burgers_jax, (0,), _of(2000, 100)),
    Program("wave", wave, wave_jax, (0, 1), lambda g, s: (g.random(sized(2000, s)), 0.3 * g.random(sized(2000, s)), 100)),
    Program("predator and prey", predator_prey, predator_prey_jax, (0,), lambda g, s: (np.array([1.1, 0.4, 0.1, 0.4]), sized(5000, s))),
    Program("pendulums", pendulum, pendulum_jax, (0,), _of(1000, 100)),
    Program("recurrent network", recurrent, recurrent_jax, (0, 1), lambda g, s: (g.normal(size=(64, 64)) / 16, g.normal(size=(64, 32)) / 8, g.normal(size=(sized(100, s), 32)))),
    Program("gated network", gated, gated_jax, (0, 1), lambda g, s: (g.normal(size=(64, 64)) / 16, g.normal(size=(64, 64)) / 16, g.normal(size=(sized(100, s), 64)))),
    Program("exponential smoothing", smoothing, smoothing_jax, (0,), lambda g, s: (0.3, g.normal(size=sized(20000, s)))),
    Program("volatility", volatility, volatility_jax, (0,), lambda g, s: (np.array([0.1, 0.1, 0.8]), g.normal(size=sized(20000, s)))),
    Program("hidden Markov model", hidden_markov, hidden_markov_jax, (0, 1), lambda g, s: (g.dirichlet(np.ones(20), 20), g.random((sized(300, s), 20)) + 0.1)),
    Program("soft time warping", soft_time_warp, soft_time_warp_jax, (0, 1), lambda g, s: (g.random(sized(120, s)), g.random(sized(100, s)))),
    Program("option on a tree", put_option, put_option_jax, (0, 1), lambda g, s: (0.9, 0.01, 100, np.linspace(0.5, 2.0, sized(400, s)))),
    Program("newton iterations", newton_root, newton_root_jax, (0,), _of(20000, 8)),
]
