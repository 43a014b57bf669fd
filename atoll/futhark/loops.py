"""Loops: the state is a list of leaves. A size that a round changes is a part of the state itself, found by trying."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.futhark import syntax as s
from atoll.futhark.build import clean, record_order
from atoll.futhark.env import feature
from atoll.futhark.values import Code, Frame, Record, V
from atoll.sizes import Sym, poly
from atoll.types import types as core
from atoll.types.types import BOOL_T, I64_T, map_sizes, sizes_in


def leaves(v: V) -> list[ir.Expr]:
    if isinstance(v, Record):
        return [x for f in record_order(v) for x in leaves(v.fields[f])]
    assert isinstance(v, Code), v
    return [v.e]


def like(v: V, parts: list[ir.Expr]) -> V:
    """A value of the same form, from its leaves."""
    if isinstance(v, Record):
        return Record({f: like(v.fields[f], parts) for f in record_order(v)})
    return Code(parts.pop(0))


def split(b: Any, v: V, form: V) -> list[ir.Expr]:
    """The leaves of a value, cut as another one is."""
    if isinstance(form, Record):
        if isinstance(v, Record):
            return [x for f in record_order(form) for x in split(b, v.fields[f], form.fields[f])]
        e = b.name(b.reify(v))
        assert isinstance(e.type, core.Tuple)
        found = []
        for k, f in enumerate(record_order(form)):
            part = Code(ir.Proj(e, k, type=e.type.items[k], span=b.span))
            found += split(b, part, form.fields[f])
        return found
    return [b.reify(v)]


def loop(b: Any, e: s.Loop, frame: Frame) -> V:
    assert e.init is not None
    first = b.named(b.eval(e.init, frame), "start")
    if not isinstance(first, Record):
        first = Code(b.reify(first))
    start = leaves(first)
    hints = _hints(e.pat, len(start))
    bound: Any = None
    array: Any = None
    if e.kind == "for":
        bound = b.name(b.code(e.high, frame), "rounds")
    elif e.kind == "in":
        array = b.name(b.code(e.high, frame), "array")
    varying: dict[tuple[int, int], Sym] = {}
    for _ in range(8):
        made, found = _attempt(b, e, frame, first, start, hints, bound, array, varying)
        if not found:
            return made  # type: ignore[no-any-return]
        for place in found:
            varying[place] = Sym("k")
    feature(e.span, "a loop whose sizes change in every attempt to describe them")


def _hints(p: Any, count: int) -> list[str]:
    names: list[str] = []

    def go(p: Any) -> None:
        match p:
            case s.PName(name):
                names.append(name)
            case s.PTyped(inner) | s.PAttr(inner):
                go(inner)
            case s.PRecord(fields):
                for _, sub in sorted(fields, key=lambda f: (len(f[0]), f[0])):
                    go(sub)
            case _:
                names.append("x")

    go(p)
    return names if len(names) == count else ["x"] * count


def _attempt(b: Any, e: s.Loop, frame: Frame, first: V, start: list[ir.Expr], hints: list[str], bound: Any, array: Any, varying: dict[tuple[int, int], Sym]) -> tuple[Any, list[Any]]:
    """The loop, or the sizes that turned out to change."""
    saved = list(b.stmts)
    state: list[tuple[Sym, ir.Expr]] = []
    for (leaf, axis), k in varying.items():
        state.append((k, b.size(sizes_in(start[leaf].type)[axis]).e))
    inside: list[ir.Expr] = []
    types: list[core.Type] = []
    for n, (x, hint) in enumerate(zip(start, hints, strict=True)):
        t = _with(x.type, {axis: poly(k) for (leaf, axis), k in varying.items() if leaf == n})
        sym = Sym(clean(hint))
        value = x if t == x.type else ir.Hide(x, type=t, span=b.span)
        state.append((sym, value if t == x.type else x))
        inside.append(ir.Var(sym, type=t, span=b.span))
        types.append(t)

    def enter() -> Frame:
        """The state under its names, in the block that is open: what they need is computed there."""
        scope = Frame(frame)
        current = like(first, list(inside))
        b.bind_sizes(e.pat.ty, current, scope)
        b.bind(e.pat, current, scope)
        return scope

    index = Sym(clean(e.var.name) if isinstance(e.var, s.PName) else "i")
    cond: ir.Expr | None = None
    if e.kind == "while":
        with b.block() as stmts:
            test = b.code(e.high, enter())
        cond = test if not stmts else ir.Block(tuple(stmts), test, type=BOOL_T, span=e.high.span)

    def body() -> tuple[list[ir.Stmt], list[ir.Expr]]:
        with b.block() as stmts:
            inner = Frame(enter())
            at = ir.Var(index, type=I64_T, span=b.span)
            if e.kind == "for":
                b.bind(e.var, Code(b.cast(at, bound.type.dtype.name)), inner)
            elif e.kind == "in":
                b.bind(e.var, Code(ir.At(array, at, type=array.type.elem, span=b.span)), inner)
            next_ = split(b, b.named(b.eval(e.body, inner), "next"), first)
        return stmts, next_

    stmts, next_ = body()
    changed = []
    for n, (x, t) in enumerate(zip(next_, types, strict=True)):
        for axis, (have, want) in enumerate(zip(sizes_in(x.type), sizes_in(t), strict=True)):
            if have != want and (n, axis) not in varying:
                changed.append((n, axis))
    if changed:
        b.stmts[:] = saved
        return None, changed
    sizes = [b.size(sizes_in(next_[leaf].type)[axis]).e for leaf, axis in varying]
    items = (*sizes, *next_)
    done = ir.MakeTuple(items, type=core.Tuple(tuple(x.type for x in items)), span=b.span)
    code: ir.Expr = done if not stmts else ir.Block(tuple(stmts), done, type=done.type, span=e.body.span)
    after = {k: Sym("k") for k in varying.values()}
    result_type = core.Tuple((*(I64_T for _ in varying), *(map_sizes(t, lambda p: p.subst({k: poly(a) for k, a in after.items()})) for t in types)))
    made: ir.Expr
    if e.kind == "while":
        assert cond is not None
        made = ir.While(tuple(state), cond, code, type=result_type, span=e.span)
    else:
        size = b.poly(b.cast(bound, "i64")) if e.kind == "for" else array.type.size
        made = ir.For(index, size, tuple(state), code, type=result_type, span=e.span)
    whole = b.opened(made, result_type, tuple(after.values()), "state") if varying else b.name(made, "state")
    parts: list[ir.Expr] = [ir.Proj(whole, k + len(varying), type=result_type.items[k + len(varying)], span=e.span) for k in range(len(start))]
    return like(first, parts), []


def _with(t: core.Type, changes: dict[int, Any]) -> core.Type:
    if not changes:
        return t
    at = iter(range(len(sizes_in(t))))

    def size(p: Any) -> Any:
        return changes.get(next(at), p)

    return map_sizes(t, size)
