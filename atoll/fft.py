"""Fourier transforms under NumPy's names, for bodies: `at.fft.rfft(x)` is `np.fft.rfft(x)`."""

from __future__ import annotations

from typing import Any

from atoll.elaborate.builtins.names import BuiltinName
from atoll.elaborate.numpy_names.names import NAMES


def __getattr__(name: str) -> Any:
    if f"fft.{name}" not in NAMES:
        raise AttributeError(f"module 'atoll.fft' has no attribute {name!r}")
    return BuiltinName(f"fft.{name}")


def __dir__() -> list[str]:
    return sorted(name.removeprefix("fft.") for name in NAMES if name.startswith("fft."))
