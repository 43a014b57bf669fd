"""The type of a part of an array."""

from __future__ import annotations

from atoll.core import ir
from atoll.types.types import Array, Type, array


def slice_type(t: Type, items: list[ir.Item]) -> Type:
    """What is left when indices are taken and ranges kept."""
    kept = []
    for item in items:
        assert isinstance(t, Array)
        if isinstance(item, ir.Range):
            kept.append(item.size)
        t = t.elem
    return array(t, kept)
