"""The kernels of the bench, one family per file."""

from __future__ import annotations

import importlib
import pkgutil

from bench.kernel import Kernel


def all_kernels() -> list[Kernel]:
    """Every kernel of every family, families in alphabetical order."""
    found: list[Kernel] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found += importlib.import_module(f"{__name__}.{module.name}").KERNELS
    return found
