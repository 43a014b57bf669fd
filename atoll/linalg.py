"""Linear algebra under NumPy's names, for bodies: `at.linalg.solve(a, b)` is `np.linalg.solve(a, b)`."""

from __future__ import annotations

from typing import Any

from atoll.elaborate.builtins.names import BuiltinName
from atoll.elaborate.numpy_names.names import NAMES


def __getattr__(name: str) -> Any:
    if f"linalg.{name}" not in NAMES:
        raise AttributeError(f"module 'atoll.linalg' has no attribute {name!r}")
    return BuiltinName(f"linalg.{name}")


def __dir__() -> list[str]:
    return sorted(name.removeprefix("linalg.") for name in NAMES if name.startswith("linalg."))
