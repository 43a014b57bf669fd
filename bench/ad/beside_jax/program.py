"""One program in both languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll as at

try:
    import jax
    import jax.numpy as jnp
    from jax import lax

    jax.config.update("jax_enable_x64", True)
except ImportError:  # the programs are there for Atoll alone too
    jax = jnp = lax = None

Data = Callable[[np.random.Generator, float], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """An objective in Atoll and in JAX, what to differentiate, and data: from a generator and a factor on the sizes."""

    name: str
    atoll: at.Function
    jax: Callable[..., Any]
    wrt: tuple[int, ...]
    data: Data
    same: bool = True  # JAX runs the same algorithm, not one of another order


def sized(size: int, scale: float) -> int:
    return max(4, int(size * scale))
