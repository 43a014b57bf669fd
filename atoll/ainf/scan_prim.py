"""Looking into primitives: operands, polynomials and binders of any of them, by one generic walk."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from atoll.ainf import ir
from atoll.sizes import Atom, Poly

_fields: dict[type, tuple[str, ...]] = {}


def field_names(cls: type) -> tuple[str, ...]:
    if cls not in _fields:
        _fields[cls] = tuple(f.name for f in dataclasses.fields(cls))
    return _fields[cls]


_PARTS = frozenset({ir.Ref, ir.Const, ir.IndexValue, ir.Cond, ir.Abs, Poly, ir.Binder, ir.Block})
_SCALAR = frozenset({ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent})  # these bind nothing


def parts(prim: Any) -> list[Any]:
    """Operands, conditions, arrays, polynomials, binders and blocks directly in a primitive."""
    if type(prim) is ir.Op:
        return list(prim.args)
    found: list[Any] = []
    for name in field_names(type(prim)):
        _flat(getattr(prim, name), found)
    return found


def _flat(x: Any, found: list[Any]) -> None:
    kind = type(x)
    if kind is tuple:
        for item in x:
            _flat(item, found)
    elif kind in _PARTS:
        found.append(x)


def own_binders(prim: Any) -> list[ir.Binder]:
    """Binders the primitive itself binds, not counting those of its arrays."""
    kind = type(prim)
    if kind in _SCALAR:
        return []
    names = field_names(kind)
    if "binder" in names:
        return [prim.binder]
    return list(prim.binders) if "binders" in names else []


def blocks(prim: Any) -> list[ir.Block]:
    kind = type(prim)
    return [] if kind in _SCALAR or "block" not in field_names(kind) else [prim.block]


def _own_symbols(prim: Any) -> set[Atom]:
    own: set[Atom] = set(own_binders(prim))
    for block in blocks(prim):
        own |= block.owned
    return own


def leaves(prim: Any) -> set[Atom]:
    """Atoms free in a primitive, those used inside its blocks included."""
    found: set[Atom] = set()
    if type(prim) is ir.Op:
        for arg in prim.args:
            found |= ir.operand_leaves(arg)
        return found
    for part in parts(prim):
        if isinstance(part, (ir.Ref, ir.IndexValue)):
            found |= ir.operand_leaves(part)
        elif isinstance(part, Poly) or isinstance(part, (ir.Cond, ir.Abs)):
            found |= part.leaves()
        elif isinstance(part, ir.Binder):
            found |= part.extent.leaves()
            for fact in part.facts:
                found |= fact.leaves()
        elif isinstance(part, ir.Block):
            for line in part.lines:
                found |= line_leaves(line)
    return found - _own_symbols(prim)


def line_leaves(line: ir.Line) -> set[Atom]:
    """Atoms free in a line."""
    found = leaves(line.prim)
    for cond in line.conds:
        found |= cond.leaves()
    for result in line.results:
        for axis in result.axes:
            found |= axis.leaves()
    for dim in line.dims:
        found |= dim.extent.leaves()
    return found - set(line.dims)


def refs(prim: Any, inside: bool = True) -> Sequence[ir.Ref]:
    """Every reference in a primitive, also those inside indices and, when `inside`, in the lines of its blocks."""
    found: list[ir.Ref] = []
    for part in parts(prim):
        found += part_refs(part, inside)
    return found


def part_refs(part: Any, inside: bool) -> Sequence[ir.Ref]:
    if isinstance(part, ir.Ref):
        return part.refs()
    if isinstance(part, ir.IndexValue):
        return ir.poly_refs(part.poly)
    if isinstance(part, Poly):
        return ir.poly_refs(part)
    if isinstance(part, ir.Cond):
        return part.refs()
    if isinstance(part, ir.Abs):
        return [*ir.operand_refs(part.body), *(ref for b in part.binders for ref in ir.poly_refs(b.extent))]
    if isinstance(part, ir.Binder):
        return ir.poly_refs(part.extent)
    if isinstance(part, ir.Block) and inside:
        return [ref for line in part.lines for ref in line_refs(line)]
    return ()


def line_refs(line: ir.Line) -> Sequence[ir.Ref]:
    """Every reference in a line. Kept with the line, unless it has blocks, whose lines may change."""
    known = line._scanned
    if known is not None and known[0] is line.prim and known[1] is line.conds and known[2] is line.results:
        return known[3]  # type: ignore[no-any-return]
    found = list(refs(line.prim))
    for cond in line.conds:
        found += cond.refs()
    for result in line.results:
        for axis in result.axes:
            found += ir.poly_refs(axis)
    for dim in line.dims:
        found += ir.poly_refs(dim.extent)
    if not blocks(line.prim):
        line._scanned = (line.prim, line.conds, line.results, found)
    return found


def subst(x: Any, env: Mapping[Any, Poly]) -> Any:
    """A primitive without blocks with atoms replaced."""
    if not env:
        return x
    if type(x) is ir.Op:
        args = tuple([ir.subst_operand(a, env) for a in x.args])
        return x if args == x.args else ir.Op(x.name, args)
    if isinstance(x, (ir.Ref, ir.IndexValue)):
        return ir.subst_operand(x, env)
    if isinstance(x, (Poly, ir.Cond)):
        return x.subst(env)
    if isinstance(x, tuple):
        return tuple(subst(item, env) for item in x)
    if isinstance(x, ir.Abs):
        return ir.Abs(x.binders, ir.subst_operand(x.body, env))
    if isinstance(x, (ir.Block, ir.Site, ir.Const, ir.Binder)) or not dataclasses.is_dataclass(x) or isinstance(x, ir.Result):
        return x
    changed = {}
    for name in field_names(type(x)):
        old = getattr(x, name)
        if isinstance(old, (Poly, tuple, ir.Ref, ir.IndexValue, ir.Cond, ir.Abs)):
            new = subst(old, env)
            if new is not old:
                changed[name] = new
    return dataclasses.replace(x, **changed) if changed else x  # type: ignore[type-var]
