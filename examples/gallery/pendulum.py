"""Angle and speed of a damped pendulum."""

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def pendulum(times: f64[n], angle: f64, speed: f64) -> f64[n, 2]:
    seen = zeros((n, 2))
    for k in range(n):
        seen[k, 0] = angle
        seen[k, 1] = speed
        speed = speed - 0.01 * (9.81 * sin(angle) + 0.2 * speed)
        angle = angle + 0.01 * speed
    return seen


def picture() -> np.ndarray:
    return pendulum(np.arange(1500.0), 2.5, 0.0)
