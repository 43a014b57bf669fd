"""CFD (Rodinia's euler3d): velocity, pressure, speed of sound and the longest stable step of every cell."""

import atoll as at
from atoll import f64

n = at.sizes("n")
GAMMA = 1.4

# with maps


@at.fn
def with_maps(density: f64[n], momentum: f64[n, 3], energy: f64[n], area: f64[n], cfl: f64):
    velocity = map(lambda r, p: map(lambda q: q / r, p), density, momentum)
    speed2 = map(lambda v: sum(map(lambda q: q * q, v)), velocity)
    pressure = map(lambda r, e, s: (GAMMA - 1.0) * (e - 0.5 * r * s), density, energy, speed2)
    sound = map(lambda r, p: sqrt(GAMMA * p / r), density, pressure)
    step = map(lambda a, s, c: cfl / (sqrt(a) * (sqrt(s) + c)), area, speed2, sound)
    flux = map(lambda v, r, p: map(lambda q: q * r + p, v), velocity, density, pressure)
    return pressure, min(step), flux


# without maps


@at.fn
def without_maps(density: f64[n], momentum: f64[n, 3], energy: f64[n], area: f64[n], cfl: f64):
    r = rep(density).T
    velocity = momentum / r
    speed2 = sum(velocity * velocity)
    pressure = (GAMMA - 1.0) * (energy - 0.5 * density * speed2)
    step = cfl / (sqrt(area) * (sqrt(speed2) + sqrt(GAMMA * pressure / density)))
    return pressure, min(step), velocity * r + rep(pressure).T


def arguments(rng):
    return 1 + rng.random(6), rng.random((6, 3)), 5 + rng.random(6), 1 + rng.random(6), 0.5
