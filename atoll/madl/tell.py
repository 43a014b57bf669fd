"""Places in words: `u[0]`, `rows 1..n - 1 of m`, never a functor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atoll.madl.typing import show_size_named
from atoll.sizes import Poly
from atoll.sizes.poly import ZERO
from atoll.views.index_map import At, IndexMap, is_view_index, position, view_index


def cell(m: IndexMap, name: str, names: Mapping[Any, str] | None = None) -> str:
    """An image as it would be written: `u[0]`, `u[j..n - 1][k]`, `p.2`."""
    names = names or {}
    text = name
    for step in m.path:
        if not isinstance(step, At):
            text += f".{step.number + 1}"
            continue
        own = [leaf for leaf in step.index.leaves() if is_view_index(leaf)]
        if not own:
            text += f"[{_show(step.index, names)}]"
            continue
        low = high = step.index
        for leaf in own:
            size = m.dims[position(leaf)]
            factor = step.index.slope(leaf)
            value = factor.const() if factor is not None else None
            falls = value is not None and value < 0
            low = low.subst({leaf: size - 1 if falls else ZERO})
            high = high.subst({leaf: ZERO if falls else size - 1})
        stride = step.index.slope(own[0]) if len(own) == 1 else None
        every = f" by {_show(stride, names)}" if stride is not None and stride.const() not in (1, -1) else ""
        text += "[..]" if not low.terms and high == step.extent - 1 and not every else f"[{_show(low, names)}..{_show(high, names)}{every}]"
    return text


def where_is(m: IndexMap, name: str, names: Mapping[Any, str] | None = None) -> str:
    """`the whole of u`, `u[0]`, `u[..] read backwards`."""
    if not m.path:
        return f"every element of a view of {name}" if m.dims else f"the whole of {name}"
    shown = cell(m, name, names)
    if set(shown.removeprefix(name)) <= set("[.]"):
        shown = name  # all of it
    order = [position(leaf) for s in m.path if isinstance(s, At) for leaf in s.index.leaves() if is_view_index(leaf)]
    backwards = any(
        isinstance(s, At) and (c := s.index.slope(view_index(k))) is not None and (c.const() or 0) < 0
        for s in m.path
        for k in range(len(m.dims))
    )
    turned = order != sorted(order)
    extra = " read backwards" if backwards else ""
    return shown + (" transposed" if turned else "") + extra


def _show(p: Poly, names: Mapping[Any, str]) -> str:
    return show_size_named(p, names)
