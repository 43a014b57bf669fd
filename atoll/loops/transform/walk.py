"""Walks that make statements anew: what a rewrite does to one statement or one block, done everywhere in a program.

    innermost_first(stmts, rewrite)   a statement after those inside it; `rewrite(stmt, known)` gives what stands in its place, or None
    outermost_first(stmts, rewrite)   a statement before those inside it, which are looked at only where it stays
    in_turn(stmts, step)              a statement after those inside it; `step(before, stmt)` puts it to what is made of its block so far
    every_block(stmts, change)        every list of statements, after those inside it
    replaced(stmts, change)           every expression and statement, after those inside it
    without_memory(stmts, arrays)     arrays that nothing mentions are not allocated

Right because nothing is moved: a statement that is not rewritten stays the same object, and where something inside it is new it is a copy with new bodies. No walk
changes what it is given. `known` is what the loops around say is not negative, for those who ask by giving what is known at first. A rewrite that has to know more of what is around keeps it in its own walk.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import is_
from typing import Any, TypeVar

from atoll.loops import ir as lp
from atoll.loops.questions import told
from atoll.loops.transform.copier import HOLDERS
from atoll.sizes import Poly

Known = tuple[Poly, ...]
Rewrite = Callable[[lp.Stmt, Known], Sequence[lp.Stmt] | None]
Enter = Callable[[lp.Stmt], bool]
S = TypeVar("S", bound=lp.Stmt)


def everywhere(stmt: lp.Stmt) -> bool:
    return True


def not_products(stmt: lp.Stmt) -> bool:
    """The loops that say what a product is stay as they are: a kernel makes it, and they are its meaning."""
    return not isinstance(stmt, lp.Product)


def plain_parts(stmt: lp.Stmt) -> bool:
    """Not into products, nor into opaque parts of scheduled programs."""
    return not isinstance(stmt, (lp.Product, lp.Section))


def innermost_first(stmts: Iterable[lp.Stmt], rewrite: Rewrite, enter: Enter = everywhere, known: Known | None = None) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        new = stmt
        if isinstance(stmt, HOLDERS) and enter(stmt):
            inside = None if known is None else (*known, *told(stmt))
            new = with_bodies(stmt, lambda body, inside=inside: innermost_first(body, rewrite, enter, inside))  # type: ignore[misc]
        found = rewrite(new, known or ())
        if found is None:
            out.append(new)
        else:
            out += found
    return out


def outermost_first(stmts: Iterable[lp.Stmt], rewrite: Rewrite, enter: Enter = everywhere, known: Known | None = None) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        found = rewrite(stmt, known or ())
        if found is not None:
            out += found
        elif isinstance(stmt, HOLDERS) and enter(stmt):
            inside = None if known is None else (*known, *told(stmt))
            out.append(with_bodies(stmt, lambda body, inside=inside: outermost_first(body, rewrite, enter, inside)))  # type: ignore[misc]
        else:
            out.append(stmt)
    return out


def in_turn(stmts: Iterable[lp.Stmt], step: Callable[[list[lp.Stmt], lp.Stmt], None], enter: Enter = everywhere) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        step(out, with_bodies(stmt, lambda body: in_turn(body, step, enter)) if isinstance(stmt, HOLDERS) and enter(stmt) else stmt)
    return out


def every_block(stmts: lp.Stmts, change: Callable[[lp.Stmts], lp.Stmts], enter: Enter = everywhere) -> list[lp.Stmt]:
    return list(change([with_bodies(s, lambda body: every_block(body, change, enter)) if isinstance(s, HOLDERS) and enter(s) else s for s in stmts]))


def with_bodies(stmt: S, change: Callable[[lp.Stmts], lp.Stmts]) -> S:
    """The statement with each of its bodies changed; itself where they stay as they are."""
    if isinstance(stmt, lp.If):
        then, orelse = change(stmt.then), change(stmt.orelse)
        return stmt if same(then, stmt.then) and same(orelse, stmt.orelse) else dataclasses.replace(stmt, then=then, orelse=orelse)
    if isinstance(stmt, lp.Product):
        body, after = change(stmt.body), change(stmt.after)
        return stmt if same(body, stmt.body) and same(after, stmt.after) else dataclasses.replace(stmt, body=body, after=after)
    if isinstance(stmt, (lp.For, lp.Accumulate, lp.Chunks, lp.Forever, lp.Section)):
        body = change(stmt.body)
        return stmt if same(body, stmt.body) else dataclasses.replace(stmt, body=body)
    return stmt


def same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """The very same things."""
    return len(first) == len(second) and all(map(is_, first, second))


def replaced(x: Any, change: Callable[[Any], Any]) -> Any:
    """Statements, expressions and arrays with every one in them changed, from the inside out; what is allocated or freed stays."""
    if isinstance(x, lp.Buffer):
        return change(x)
    if isinstance(x, (list, tuple)):
        new = [replaced(item, change) for item in x]
        return x if same(new, x) else type(x)(new)
    if isinstance(x, (lp.Alloc, lp.Free)) or (fields := lp.FIELDS.get(type(x))) is None:
        return x
    parts = {name: new for name in fields if (new := replaced(old := getattr(x, name), change)) is not old}
    return change(dataclasses.replace(x, **parts) if parts else x)


def without_memory(stmts: lp.Stmts, arrays: Collection[lp.Buffer], but: lp.Stmt | None = None) -> list[lp.Stmt]:
    """Without what makes and frees these arrays, but in one statement."""

    def block(body: lp.Stmts) -> list[lp.Stmt]:
        return [s for s in body if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer in arrays)]

    return every_block(stmts, block, lambda s: s is not but)
