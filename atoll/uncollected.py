"""Compiling without Python's cyclic garbage collector.

A compiler makes many small objects that all live until the end: every full collection walks all of them and frees nothing, so the
time per line grows with the program. While a stage runs the collector rests; it is as it was afterwards.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uncollected(stage: Callable[P, R]) -> Callable[P, R]:
    """The same function, run while the collector rests."""

    @functools.wraps(stage)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        if not gc.isenabled():
            return stage(*args, **keywords)
        gc.disable()
        try:
            return stage(*args, **keywords)
        finally:
            gc.enable()

    return run
