"""Fitting an ODE: rabbits and foxes (Lotka-Volterra), integrated by Runge-Kutta, their rates found from measurements by gradient descent.

The derivative goes backwards through every step of the integrator; `checkpoint=2` keeps about 2*sqrt(steps) states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def change(rates: f64[4], y: f64[2]) -> f64[2]:
    return [rates[0] * y[0] - rates[1] * y[0] * y[1], rates[3] * y[0] * y[1] - rates[2] * y[1]]


@at.fn
def runge_kutta(rates: f64[4], y: f64[2], h: f64) -> f64[2]:
    k1 = change(rates, y)
    k2 = change(rates, y + 0.5 * h * k1)
    k3 = change(rates, y + 0.5 * h * k2)
    k4 = change(rates, y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@at.fn
def objective(rates: f64[4], start: f64[2], h: f64, measured: f64[n, 2]) -> f64:
    """The mean squared distance of the trajectory, measured after every step."""
    y, total = start, 0.0
    for t in at.loop(n, checkpoint=2):
        y = runge_kutta(rates, y, h)
        total += sum((a - b) ** 2 for a, b in zip(y, measured[t]))
    return total / n


@at.fn
def trajectory(rates: f64[4], start: f64[2], h: f64, steps: i64) -> f64[steps, 2]:
    found, y = zeros((steps, 2)), start
    for t in range(steps):
        y = runge_kutta(rates, y, h)
        found[t] = y
    return found


@at.fn
def fit(rates: f64[4], start: f64[2], h: f64, measured: f64[n, 2], rounds: i64, speed: f64) -> f64[4]:
    for _ in range(rounds):
        rates = rates - speed * grad(objective)(rates, start, h, measured)
    return rates


gradient = at.value_and_grad(objective, wrt=("rates", "start"))


def data(steps: int) -> tuple[Any, ...]:
    start, h = np.array([1.0, 0.5]), 0.1
    return np.array([1.3, 0.9, 0.8, 1.1]), start, h, trajectory(np.array([1.1, 0.8, 1.0, 0.9]), start, h, steps)


def main() -> None:
    args = data(steps=50)
    value, gradients = gradient(*args)
    check("lotka-volterra", objective, args, (0, 1), gradients)
    found = fit(*args, rounds=400, speed=0.02)
    print(f"distance {value:.4f}, after the fit {objective(found, *args[1:]):.2e}; rates {np.round(found, 3)}, really 1.1 0.8 1.0 0.9")


if __name__ == "__main__":
    main()
