"""What a task is: programs for the same answer, sizes, and data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

try:
    import numba
    from numba import prange
except ImportError:
    numba, prange = None, range
try:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
except ImportError:
    jax = jnp = None

Data = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Task:
    """`numpy(xp, *args)` is written in functions of arrays; with `shared` JAX compiles the same text (arguments at `static` are Python numbers to it)."""

    name: str
    atoll: Any
    numpy: Callable[..., Any]
    data: Data
    presets: dict[str, tuple[int, ...]]
    shared: bool = False
    static: tuple[int, ...] = ()
    numba: Callable[..., Any] | None = None
    serial: bool = False  # the Numba version has no parallel loop
    jax: Callable[..., Any] | None = None
    rtol: float = 1e-9
    slow: bool = False  # NumPy's version runs in loops of Python, so it is timed once


def rng() -> np.random.Generator:
    return np.random.default_rng(42)


def f64s(*shape: int) -> Any:
    return rng().random(shape) + 0.1


def f32s(*shape: int) -> Any:
    return rng().random(shape, dtype=np.float32)


def several(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Random arrays that differ from each other."""
    r = rng()
    return tuple(r.random(shape) for shape in shapes)


def presets(s: tuple[int, ...], m: tuple[int, ...], large: tuple[int, ...], tiny: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"S": s, "M": m, "L": large, "tiny": tiny}


__all__ = ["Task", "f32s", "f64s", "jax", "jnp", "np", "numba", "prange", "presets", "rng", "several"]
