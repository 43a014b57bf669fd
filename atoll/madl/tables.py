"""Memory that never changes: state that is initialised with constants and never written again, arrays of constants. It becomes `static const`.

A buffer is a table when every cell that is ever written is written by one statement, with a value known now: then whoever reads it
reads that value, whenever it runs. The statements that fill it go, and it is no parameter and no state any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from atoll.core.prims import PRIMS
from atoll.loops import ir as lp
from atoll.loops.transform.walk import with_bodies
from atoll.madl.lowered import CopyPiece, Invoke, LoweredOperator
from atoll.madl.scalars import convert
from atoll.sizes import Atom, Poly

_MOST_CELLS = 1 << 16


class _NotKnown(Exception):
    """Something depends on what only a run knows."""


def keep_tables(op: LoweredOperator) -> None:
    """Find the tables of an operator, and take them out of its functions; state that is then nobody's goes too."""
    functions = [fn for fn in (op.cycle, op.reset) if fn is not None]
    candidates = {b for (chunk, _), b in op.buffers.items() if chunk.role == "state" or (chunk.role == "local" and b.extents)}
    candidates -= _in_results(op)
    for fn in functions:
        for stmt in lp.walk(fn.body):
            candidates -= _excluded(stmt)
    found = {b: _Filled(b) for b in candidates if all(n.const() for n in b.extents) and _cells(b) <= _MOST_CELLS}
    for fn in functions:
        _fill(fn.body, {}, found, known=True)
    op.tables = {b: filled.array for b, filled in found.items() if filled.array is not None and filled.done.all()}
    same: dict[Any, str] = {}
    for b, array in op.tables.items():  # a constant that is used in several places is one table
        b.name = same.setdefault((b.dtype.name, array.shape, array.tobytes()), f"{op.cycle.name}_{b.name}")
    used: set[lp.Buffer] = set()
    for fn in functions:
        fn.body[:] = _without(fn.body, op.tables)
        used |= _used(fn.body)
    state = {b for (chunk, _), b in op.buffers.items() if chunk.role == "state"}
    kept = _in_results(op) | used
    for fn in functions:
        fn.params[:] = [b for b in fn.params if b not in op.tables and (b not in state or b in kept)]


def _cells(b: lp.Buffer) -> int:
    total = 1
    for n in b.extents:
        total *= n.const() or 0
    return total


def _in_results(op: LoweredOperator) -> set[lp.Buffer]:
    """What a result lies in: its caller reads it."""
    chunks = {op.compiled.layout.chunk(w) for w in [*op.compiled.graph.results, *op.compiled.graph.arguments]}
    return {b for (chunk, _), b in op.buffers.items() if chunk in chunks}


def _excluded(stmt: Any) -> set[lp.Buffer]:
    """Buffers that a statement writes in a way that is not followed here, or hands on as an array of arrays, which C would not take as const."""
    match stmt:
        case Invoke(args=args):
            return {a.buffer for a in args if a.formal is None or a.writes or len(a.formal.extents) > 1 or (a.by_value is False and not a.buffer.extents)}
        case CopyPiece(target=b) | lp.Update(buffer=b):
            return {b}
    return set()


class _Filled:
    """What has been stored in a buffer so far; None when it is no table."""

    def __init__(self, buffer: lp.Buffer) -> None:
        self.array: Any = np.zeros(tuple(n.const() or 0 for n in buffer.extents), buffer.dtype.numpy)
        self.done = np.zeros(self.array.shape, bool)

    def store(self, index: tuple[int, ...], value: Any) -> None:
        if self.array is None or self.done[index] or any(not 0 <= i < n for i, n in zip(index, self.array.shape, strict=True)):
            self.array = None
            return
        self.array[index], self.done[index] = value, True


def _fill(body: Sequence[Any], env: dict[Any, int], found: dict[lp.Buffer, _Filled], known: bool) -> None:
    """Run the stores to the candidates; one that is not known makes its buffer no table."""
    for stmt in body:
        if isinstance(stmt, lp.Store) and stmt.buffer in found and found[stmt.buffer].array is not None:
            filled = found[stmt.buffer]
            try:
                if not known:
                    raise _NotKnown
                filled.store(tuple(_number(i, env) for i in stmt.index), _value(stmt.value, env))
            except _NotKnown:
                filled.array = None
        elif isinstance(stmt, lp.For):
            _fill_loop(stmt, env, found, known)
        elif isinstance(stmt, lp.If):
            for inner in (stmt.then, stmt.orelse):
                _fill(inner, env, found, False)


def _fill_loop(loop: lp.For, env: dict[Any, int], found: dict[lp.Buffer, _Filled], known: bool) -> None:
    stored = {s.buffer for s in lp.walk(loop.body) if isinstance(s, lp.Store) and s.buffer in found}
    if not stored:
        return
    try:
        low, high = _number(loop.low, env), _number(loop.high, env)
    except _NotKnown:
        low, high, known = 0, 1, False
    if high - low > _MOST_CELLS:
        known, high = False, low + 1
    for k in range(low, high):
        _fill(loop.body, {**env, loop.sym: k}, found, known)


def _number(p: Poly, env: dict[Any, int]) -> int:
    def atom(a: Atom) -> int:
        if a not in env:
            raise _NotKnown
        return env[a]

    if any(leaf not in env for leaf in p.leaves()):
        raise _NotKnown
    return int(p.evaluate(atom))


def _value(e: lp.Expr, env: dict[Any, int]) -> Any:
    match e:
        case lp.Const(value, dtype):
            return dtype.numpy.type(value)
        case lp.Index(p):
            return np.int64(_number(p, env))
        case lp.Cast(arg, dtype):
            return convert(_value(arg, env), dtype)
        case lp.Call(op, args, _) if op in ("add", "sub", "mul", "neg", "select"):
            values = [_value(a, env) for a in args]
            with np.errstate(all="ignore"):
                return (values[1] if values[0] else values[2]) if op == "select" else PRIMS[op].means(*values)
    raise _NotKnown


def _without(body: Sequence[Any], tables: dict[lp.Buffer, Any]) -> list[Any]:
    """The statements without those that fill tables, and without what is then empty."""
    kept: list[Any] = []
    for stmt in body:
        if isinstance(stmt, (lp.Store, lp.Alloc)) and stmt.buffer in tables:
            continue
        if isinstance(stmt, (lp.For, lp.If)):
            stmt = with_bodies(stmt, lambda body: _without(body, tables))
            if not any(lp.bodies(stmt)):
                continue
        kept.append(stmt)
    return kept


def _used(body: list[Any]) -> set[lp.Buffer]:
    """Every buffer that a body reads or writes."""
    found: set[lp.Buffer] = set()
    for stmt in lp.walk(body):
        match stmt:
            case CopyPiece(target=a, source=b):
                found |= {a, b}
            case Invoke(args=args):
                found |= {a.buffer for a in args}
            case lp.Store(buffer=b) | lp.Update(buffer=b):
                found.add(b)
        values = [stmt.value] if isinstance(stmt, (lp.Store, lp.Update, lp.Let)) else []
        values += [t.expr for t in stmt.tests if t.expr is not None] if isinstance(stmt, lp.If) else []
        found |= {x.buffer for v in values for x in lp.subexprs(v) if isinstance(x, lp.Load)}
    return found


def table_text(b: lp.Buffer, array: Any, name: str, literal: Any) -> str:
    """`static const int32_t f_t[2][2] = {{1, 2}, {3, 4}};`"""

    def nested(part: Any) -> str:
        if part.ndim == 0:
            text = literal(part.item(), b.dtype)
            return text[1:-1] if text.startswith("(") and text.endswith(")") else str(text)
        return "{" + ", ".join(nested(row) for row in part) + "}"

    dims = "".join(f"[{n}]" for n in array.shape)
    return f"static const {b.dtype.c_name} {name}{dims} = {nested(array)};"
