"""Sizes of what a function gives, known outside of it: what computes them, and depends on none of its arguments, is computed before."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from atoll.core import ir
from atoll.sizes import Poly, Sym
from atoll.types.types import Type, sizes_in


def mentions(x: Any) -> set[Sym]:
    """Every name in a piece of code, those it binds itself included."""
    found: set[Sym] = set()
    seen: set[int] = set()

    def go(x: Any) -> None:
        if isinstance(x, Poly):
            found.update(leaf for leaf in x.leaves() if isinstance(leaf, Sym))
        elif isinstance(x, Type):
            for size in sizes_in(x):
                go(size)
        elif isinstance(x, Sym):
            found.add(x)
        elif isinstance(x, (tuple, list)):
            for item in x:
                go(item)
        elif dataclasses.is_dataclass(x) and not isinstance(x, ir.Function) and id(x) not in seen:
            seen.add(id(x))
            for f in dataclasses.fields(x):
                if f.name != "span":
                    go(getattr(x, f.name))

    go(x)
    return found


def bound_by(stmt: ir.Stmt) -> tuple[Sym, ...]:
    if isinstance(stmt, ir.Bind):
        return (stmt.sym,)
    return (stmt.sym, *stmt.sizes) if isinstance(stmt, ir.Open) else ()


def escaping(body: ir.Expr, params: Iterable[Sym]) -> tuple[list[ir.Stmt], ir.Expr] | None:
    """What is to be computed before a function so that its result's sizes are known, and the function's body without it; None when they depend on its arguments."""
    if not isinstance(body, ir.Block):
        return [], body
    wanted = {leaf for size in sizes_in(body.type) for leaf in size.leaves() if isinstance(leaf, Sym)}
    inside = {sym: stmt for stmt in body.stmts for sym in bound_by(stmt)}
    if not wanted & inside.keys():
        return [], body
    own = set(params)
    out: set[int] = set()
    pending = [inside[sym] for sym in wanted if sym in inside]
    while pending:
        stmt = pending.pop()
        if id(stmt) in out:
            continue
        out.add(id(stmt))
        for sym in mentions(stmt):
            if sym in own:
                return None
            if sym in inside:
                pending.append(inside[sym])
    moved = [stmt for stmt in body.stmts if id(stmt) in out]
    rest = tuple(stmt for stmt in body.stmts if id(stmt) not in out)
    return moved, dataclasses.replace(body, stmts=rest) if rest else body.result


def captured(*code: Any) -> tuple[dict[Sym, Type], list[Sym]]:
    """What code uses and does not bind: values with their types, and sizes."""
    values: dict[Sym, Type] = {}
    sizes: dict[Sym, None] = {}
    bound: set[Sym] = set()
    seen: set[int] = set()

    def go(x: Any) -> None:
        if isinstance(x, ir.Var):
            values.setdefault(x.sym, x.type)
            go(x.type)
        elif isinstance(x, Poly):
            sizes.update((leaf, None) for leaf in x.leaves() if isinstance(leaf, Sym))
        elif isinstance(x, Type):
            for size in sizes_in(x):
                go(size)
        elif isinstance(x, Sym):  # a name anywhere else is where it is bound
            bound.add(x)
        elif isinstance(x, (tuple, list)):
            for item in x:
                go(item)
        elif dataclasses.is_dataclass(x) and not isinstance(x, ir.Function) and id(x) not in seen:
            seen.add(id(x))
            for f in dataclasses.fields(x):
                if f.name != "span":
                    go(getattr(x, f.name))

    for x in code:
        go(x)
    for t in list(values.values()):
        go(t)
    free = {sym: t for sym, t in values.items() if sym not in bound}
    return free, [sym for sym in sizes if sym not in bound and sym not in free]
