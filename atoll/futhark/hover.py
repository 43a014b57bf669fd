"""What editors show of a Futhark program: the types of its names, as the checker found them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from atoll.errors import Span
from atoll.futhark import syntax as s
from atoll.futhark.ftypes import show

Types = list[tuple[Span, str]]


def definitions(decs: list[Any]) -> Iterator[tuple[str, Span, str, Types]]:
    """(name, place, type, types of the names in it) of the definitions of a checked program; those of modules too."""
    for d in decs:
        if isinstance(d, s.Local):
            yield from definitions([d.dec])
        elif isinstance(d, s.ModDef) and isinstance(d.body, s.MDecs):
            yield from definitions(d.body.decs)
        elif isinstance(d, s.Def) and d.info is not None:
            types: Types = []
            _names([d.params, d.body], types)
            yield d.name, d.span, f"{d.name} : {show(d.info.type)}", types


def _names(x: Any, found: Types) -> None:
    if isinstance(x, (s.Var, s.PName)) and x.ty is not None:
        found.append((x.span, f"{'.'.join(x.name) if isinstance(x, s.Var) else x.name} : {show(x.ty)}"))
    if isinstance(x, s.Node):
        for f in dataclasses.fields(x):
            if f.name not in s.CHECKED:
                _names(getattr(x, f.name), found)
    elif isinstance(x, (list, tuple)):
        for item in x:
            _names(item, found)
    elif isinstance(x, s.Dim):
        _names([x.low, x.high, x.step], found)
