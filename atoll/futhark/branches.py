"""Branches of two sizes where they are differentiated: both give an array of the larger size, of which the chosen size is taken. What a branch hides has no derivative."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.core import ir
from atoll.core.rewrite import walk
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import I64_T, Array, Tuple, Type, map_sizes, sizes_in


def together(p: Any, cond: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr | None:
    """One of two values of different sizes, where all that the sizes may be is known before; `p` is the code under construction."""
    if not (_flat(a.type) and _flat(b.type)):
        return None
    mine, theirs = (list(_may_be(p, e)) for e in (a, b))
    same = [x == y and u == [x] for x, y, u in zip(sizes_in(a.type), sizes_in(b.type), mine, strict=True)]
    options = [u + [y for y in v if y not in u] for u, v in zip(mine, theirs, strict=True)]
    if not all(mine) or not all(theirs):
        return None
    most = [u[0] if known else _largest(p, u) for u, known in zip(options, same, strict=True)]
    wanted = with_sizes(a.type, most)
    branches = [_beside_sizes(p, e, wanted, same) for e in (a, b)]
    chosen = p.name(ir.If(cond, branches[0], branches[1], type=branches[0].type, span=p.span))
    sizes, at = [], 1
    for known, size, may in zip(same, most, options, strict=True):
        if not known:
            sym = Sym("k")
            p.stmts.append(ir.Bind(sym, ir.Proj(chosen, at, type=I64_T, span=p.span)))
            p.may_be[sym] = may
            p.require(size - poly(sym), "the size of a branch is one of the two")
            size, at = poly(sym), at + 1
        sizes.append(size)
    return _cut(p, ir.Proj(chosen, 0, type=wanted, span=p.span), with_sizes(wanted, sizes))


def with_sizes(t: Type, sizes: list[Poly]) -> Type:
    at = iter(sizes)
    return map_sizes(t, lambda _: next(at))


def _flat(t: Type) -> bool:
    """Arrays of numbers, or of tuples of numbers, and tuples of such."""
    if isinstance(t, Tuple):
        return all(map(_flat, t.items))
    while isinstance(t, Array):
        t = t.elem
    return not sizes_in(t)


def _may_be(p: Any, e: ir.Expr) -> Iterator[list[Poly]]:
    """What each size of a value may be, in sizes that are known outside of it; nothing where that is not known."""
    inside: set[Sym] = set()
    for node in walk(e):
        if isinstance(node, ir.Bind):
            inside.add(node.sym)
        elif isinstance(node, ir.Open):
            inside |= {node.sym, *node.sizes}
    for size in sizes_in(e.type):
        found = [size] if not set(size.leaves()) & inside else p.may_be.get(size.single(), [size])
        yield found if not any(set(x.leaves()) & inside for x in found) else []


def _largest(p: Any, options: list[Poly]) -> Poly:
    e: ir.Expr = p.size(options[0]).e
    for x in options[1:]:
        e = p.prim("max", e, p.size(x).e).e
    size: Poly = p.poly(e)
    p.require(size, "a size is not negative")
    return size


def _beside_sizes(p: Any, e: ir.Expr, wanted: Type, same: list[bool]) -> ir.Expr:
    """A branch that gives its value, filled up, and its sizes."""
    from_own = [p.size(x).e for x, known in zip(sizes_in(e.type), same, strict=True) if not known]
    with p.block() as stmts:
        if isinstance(e, ir.Block):
            stmts.extend(e.stmts)
            e = e.result
        items = (_filled(p, p.name(e), wanted), *from_own)
    result = ir.MakeTuple(items, type=Tuple(tuple(x.type for x in items)), span=p.span)
    return ir.Block(tuple(stmts), result, type=result.type, span=p.span)


def _filled(p: Any, e: ir.Expr, wanted: Type) -> ir.Expr:
    """A value with zeros after its elements."""
    if sizes_in(e.type) == sizes_in(wanted):
        return e
    if isinstance(e.type, Tuple) and isinstance(wanted, Tuple):
        parts = tuple(_filled(p, ir.Proj(e, k, type=t, span=p.span), w) for k, (t, w) in enumerate(zip(e.type.items, wanted.items, strict=True)))
        return ir.MakeTuple(parts, type=wanted, span=p.span)
    assert isinstance(e.type, Array) and isinstance(wanted, Array)
    i = Sym("i")
    index = ir.Var(i, type=I64_T, span=p.span)
    there = p.prim("lt", index, p.size(e.type.size).e, bool_=True).e
    element = _filled(p, ir.At(e, index, type=e.type.elem, span=p.span), wanted.elem)
    return ir.Build(i, wanted.size, ir.If(there, element, p.zero(wanted.elem), type=wanted.elem, span=p.span), type=wanted, span=p.span)


def _cut(p: Any, e: ir.Expr, wanted: Type) -> ir.Expr:
    """The first elements."""
    if sizes_in(e.type) == sizes_in(wanted):
        return e
    if isinstance(e.type, Tuple) and isinstance(wanted, Tuple):
        parts = tuple(_cut(p, ir.Proj(e, k, type=t, span=p.span), w) for k, (t, w) in enumerate(zip(e.type.items, wanted.items, strict=True)))
        return ir.MakeTuple(parts, type=wanted, span=p.span)
    items = tuple(ir.Range(poly(0), 1, size) for size in sizes_in(wanted))
    return ir.Slice(p.name(e), items, type=wanted, span=p.span)
