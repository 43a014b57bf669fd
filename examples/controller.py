"""A cart is driven to a place: a PID controller and a Kalman filter, both written in MADL, in closed loop with a simulation in Python.

    python examples/controller.py            the controllers never allocate; what they need is printed first
    atoll build examples/madl/pid.madl       the same controller as C for a board
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import atoll as at

MADL = Path(__file__).parent / "madl"


def main(steps: int) -> None:
    pid, kalman = at.madl(MADL / "pid.madl"), at.madl(MADL / "kalman.madl")
    for module in (pid, kalman):
        header = module.c_file().header()
        print(*(line.removeprefix("#define ") for line in header.splitlines() if "_BYTES" in line), sep="\n")

    dt, rng = 0.01, np.random.default_rng(0)
    f, q = np.eye(4), np.diag([1e-6, 1e-6, 1e-3, 1e-3])
    f[0, 2] = f[1, 3] = dt
    h, r = np.eye(2, 4), 0.02**2 * np.eye(2)
    place, speed, goal = np.zeros(2), np.zeros(2), np.array([1.0, -0.5])
    drives, estimate = [pid.pid(), pid.pid()], kalman.kalman()
    for k in range(steps):
        seen = place + 0.02 * rng.standard_normal(2)
        believed = estimate.step(f, q, h, r, seen)
        force = np.array([float(d.step(goal[j], float(believed[j]), k == 0)) for j, d in enumerate(drives)])
        speed += dt * (4.0 * force - 3.0 * speed)
        place += dt * speed
        if k % max(1, steps // 8) == 0:
            print(f"t = {k * dt:5.2f}  at ({place[0]:6.3f}, {place[1]:6.3f})  seen ({seen[0]:6.3f}, {seen[1]:6.3f})  force ({force[0]:6.2f}, {force[1]:6.2f})")
    off = float(np.abs(place - goal).max())
    print(f"after {steps} steps the cart is {off:.3f} from its goal")
    assert steps < 400 or off < 0.1


if __name__ == "__main__":
    main(100 if "--quick" in sys.argv else 1000)
