"""What a kernel of the bench is: one task written in Atoll and in the languages of its peers, with data to run it on.

Peers are imported where they are installed (bench/.peers); a version for a missing peer is simply not run. Versions for Numba are plain
functions which the runner compiles with njit(parallel=True); those for JAX are compiled with jit.
"""

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
try:
    import torch
except ImportError:
    torch = None


@dataclass
class Kernel:
    """`shared(xp, *args)` serves NumPy and JAX; `flops` and `bytes` are of the whole call, as functions of the arguments."""

    name: str
    atoll: Any
    data: Callable[[int], tuple[Any, ...]]
    size: int
    numpy: Callable[..., Any] | None = None
    shared: Callable[..., Any] | None = None
    numba: Callable[..., Any] | None = None
    serial: bool = False  # the Numba version has no parallel loop
    jax: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None  # when NumPy's version is not what to compare with
    flops: Callable[..., float] | None = None
    bytes: Callable[..., float] | None = None
    rtol: float = 1e-9
    growth: float = 1.0  # the cost is size ** growth
    streams: bool = False  # bound by memory: a copy of as many bytes is timed beside it
    slow_numpy: bool = False  # loops in Python: checked at a small size, timed once


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def f32s(*shape: int) -> Any:
    return rng().random(shape, dtype=np.float32) + np.float32(0.5)


def f64s(*shape: int) -> Any:
    return rng().random(shape) + 0.5


def touched(*args: Any) -> float:
    """Bytes of all arrays among some arguments."""
    return float(sum(a.nbytes for a in args if isinstance(a, np.ndarray)))


__all__ = ["Kernel", "f32s", "f64s", "jax", "jnp", "numba", "prange", "rng", "torch", "touched"]
