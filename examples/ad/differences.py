"""Central differences: the check that every example in this folder ends with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def central(f: Callable[..., Any], args: Sequence[Any], which: int, step: float = 1e-5) -> np.ndarray[Any, Any]:
    """The gradient of a function with a float result with respect to one argument, entry by entry, to fourth order in the step."""
    x = np.asarray(args[which], np.float64)
    found = np.zeros(x.shape)

    def at_distance(position: tuple[int, ...], h: float) -> float:
        moved = x.copy()
        moved[position] += h
        return float(f(*args[:which], moved if x.ndim else float(moved), *args[which + 1 :]))

    for position in np.ndindex(x.shape):
        h = float(step * max(1.0, abs(x[position])) * 10)
        near = at_distance(position, h) - at_distance(position, -h)
        far = at_distance(position, 2 * h) - at_distance(position, -2 * h)
        found[position] = (8 * near - far) / (12 * h)
    return found


def error(f: Callable[..., Any], args: Sequence[Any], which: Sequence[int], gradients: Any) -> float:
    """The largest difference between gradients and central differences, relative to the largest entry of each."""
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    worst = 0.0
    for k, g in zip(which, gradients, strict=True):
        expected = central(f, args, k)
        assert np.shape(g) == expected.shape, (np.shape(g), expected.shape)
        if expected.size:
            worst = max(worst, float(np.max(np.abs(np.asarray(g) - expected)) / max(1.0, np.max(np.abs(expected)))))
    return worst


def check(name: str, f: Callable[..., Any], args: Sequence[Any], which: Sequence[int], gradients: Any, within: float = 1e-7) -> None:
    """Print how far gradients are from central differences; too far is an error."""
    worst = error(f, args, which, gradients)
    print(f"{name}: gradient and central differences differ by {worst:.1e}")
    assert worst < within, f"{name}: the gradient is wrong"
