"""Rebuilding core trees: one generic traversal for passes that touch types, polynomials or single nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from atoll.core import ir
from atoll.sizes import Poly, Sym
from atoll.types.types import Type, sizes_in

_PLAIN = (str, int, float, complex, bool, type(None))
_fields: dict[type, tuple[str, ...]] = {}


def _field_names(cls: type) -> tuple[str, ...]:
    if cls not in _fields:
        _fields[cls] = tuple(f.name for f in dataclasses.fields(cls))
    return _fields[cls]


def transform(
    node: Any,
    on_poly: Callable[[Poly], Poly] | None = None,
    on_type: Callable[[Type], Type] | None = None,
    on_node: Callable[[Any], Any] | None = None,
) -> Any:
    """A copy of the tree with polynomials, types and (bottom up) nodes replaced. Called functions are left alone."""

    def go(x: Any) -> Any:
        if isinstance(x, Poly):
            return on_poly(x) if on_poly is not None else x
        if isinstance(x, Type):
            return on_type(x) if on_type is not None else x
        if isinstance(x, tuple):
            new = tuple(go(item) for item in x)
            return x if all(a is b for a, b in zip(x, new, strict=True)) else new
        if isinstance(x, _PLAIN) or isinstance(x, ir.Function) or not dataclasses.is_dataclass(x):
            return x
        changed = {}
        for name in _field_names(type(x)):
            if name == "span":
                continue
            old = getattr(x, name)
            new = go(old)
            if new is not old:
                changed[name] = new
        if changed:
            x = dataclasses.replace(x, **changed)  # type: ignore[type-var]
        return on_node(x) if on_node is not None and isinstance(x, ir.Node) else x

    return go(node)


def children(node: Any) -> list[Any]:
    """Every node and statement directly below."""
    found: list[Any] = []
    for name in _field_names(type(node)):
        _nodes(getattr(node, name), found)
    return found


_NODES = (ir.Node, ir.Bind, ir.Open, ir.Assert, ir.Require, ir.Print, ir.Fix)
_AROUND = (ir.Lam, ir.Range, ir.CaseOf, ir.Switch, ir.LetTree, ir.TestTree, ir.Leaf)
_is_node: dict[type, bool | None] = {tuple: False}  # whether a class is a node, has nodes inside, or (None) neither


def _nodes(x: Any, found: list[Any]) -> None:
    kind = type(x)
    if kind not in _is_node:
        _is_node[kind] = True if issubclass(kind, _NODES) else False if issubclass(kind, (*_AROUND, tuple)) else None
    here = _is_node[kind]
    if here:
        found.append(x)
    elif here is False:
        for item in x if isinstance(x, tuple) else [getattr(x, name) for name in _field_names(kind)]:
            _nodes(item, found)


def walk(node: Any) -> Iterator[Any]:
    """Every node and statement, this one first."""
    stack = [node]
    while stack:
        x = stack.pop()
        yield x
        stack.extend(reversed(children(x)))


def depth(node: Any) -> int:
    """How many nodes are inside each other."""
    most, stack = 0, [(node, 1)]
    while stack:
        x, here = stack.pop()
        most = max(most, here)
        stack.extend((child, here + 1) for child in children(x))
    return most


def called(fn: ir.Function, known: Iterable[int] = ()) -> list[ir.Function]:
    """All functions a function calls, directly or not, callees first; without those that are known (by identity) and what they call."""
    order: list[ir.Function] = []
    seen: set[int] = set(known)

    def visit(f: ir.Function) -> None:
        if id(f) in seen:
            return
        seen.add(id(f))
        if f.body is not None:
            for node in walk(f.body):
                if isinstance(node, ir.Call):
                    visit(node.fn)
        order.append(f)

    visit(fn)
    return order


def mentioned(part: Any) -> set[Sym]:
    """Symbols a statement or expression mentions, in values and in sizes."""
    found: set[Sym] = {node.sym for node in walk(part) if isinstance(node, ir.Var)}

    def poly(p: Poly) -> Poly:
        found.update(leaf for leaf in p.leaves() if isinstance(leaf, Sym))
        return p

    def type_(t: Type) -> Type:
        for p in sizes_in(t):
            poly(p)
        return t

    transform(part, poly, type_)
    return found
