"""Sums of columns: few points that each add up many rounds are cut along the rounds as well.

    b[j] = 0; for r in 0..n: b[j] op= v(r, j)          a thread for every j has too few threads where there are few j
    1. a thread for every (c, j): what the rounds of piece c add to j
    2. for every j: the pieces, in their order

How many pieces there are is a formula of the sizes (notes/cuda_shapes.md 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Nest, flat_kernel
from atoll.backends.cuda.threads import Names
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

ENOUGH = 1 << 18  # threads that fill a GPU
LEAST = 64  # rounds of a piece

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


@dataclass(frozen=True, slots=True)
class Columns:
    """Points that start elements, add up the rounds of a loop in them, and perhaps go on."""

    start: list[lp.Stmt]
    loop: lp.For
    rest: list[lp.Stmt]
    targets: dict[lp.Buffer, lp.Update]


def find_columns(nest: Nest) -> Columns | None:
    """The sums that a nest is, if its points do nothing else in their loop."""
    at = next((n for n, s in enumerate(nest.body) if isinstance(s, lp.For) and not s.parallel), None)
    if at is None:
        return None
    loop, rest = nest.body[at], list(nest.body[at + 1 :])
    assert isinstance(loop, lp.For)
    inside = list(lp.walk(loop.body))
    if not all(isinstance(s, (lp.Let, lp.Update, lp.If, lp.Note)) or (isinstance(s, lp.For) and s.parallel and (s.high - s.low).subst(nest.env) == poly(1)) for s in inside):
        return None
    updates = [s for s in inside if isinstance(s, lp.Update)]
    targets = {u.buffer: u for u in updates}
    read = {x.buffer for x in loads(loop.body)}
    if not updates or len(targets) != len(updates) or read & set(targets) or any(u.op not in _MONOID for u in updates):
        return None
    around = {*nest.syms, *(s.var.atom for s in lp.walk(nest.body) if isinstance(s, (lp.Let, lp.Declare)))}
    if around & {*loop.low.subst(nest.env).leaves(), *loop.high.subst(nest.env).leaves()} or any(isinstance(a, lp.VarAtom) for a in (loop.high - loop.low).leaves()):
        return None
    changing = {loop.sym} | {s.var.atom for s in inside if isinstance(s, lp.Let)}
    if any(changing & q.leaves() for u in updates for q in u.index):
        return None
    started = [s for s in lp.walk(list(nest.body[:at])) if isinstance(s, lp.Store)]
    for u in updates:  # every element starts as what changes nothing
        neutral = MONOIDS[_MONOID[u.op]][1](u.buffer.dtype)
        if not any(s.buffer is u.buffer and isinstance(s.value, lp.Const) and s.value.value == neutral for s in started):
            return None
    if any(s.buffer not in targets for s in started) or any(not isinstance(s, (lp.Store, lp.For, lp.Note)) for s in lp.walk(list(nest.body[:at]))):
        return None
    return Columns(list(nest.body[:at]), loop, rest, targets)


def column_kernels(lowering: Any, nest: Nest, extents: tuple[Poly, ...], found: Columns) -> list[k.Statement]:
    """The launches of sums of columns; in pieces where there are few points."""
    names: Names = lowering.names
    loop = found.loop
    out: list[k.Statement] = []
    low, high = loop.low.subst(nest.env), loop.high.subst(nest.env)
    rounds = lowering.extent(high - low, out)
    points, pieces, length = (names.var(x, I64, True) for x in ("points", "pieces", "length"))
    lowering.host |= {points, pieces, length}
    out.append(lp.Let(points, lp.Call("max", (lp.Index(product(extents)), lp.Const(1, I64)), I64)))
    most = lp.Call("min", (lp.Index(poly(ENOUGH) // poly(points.atom)), lp.Index(rounds // LEAST)), I64)
    out.append(lp.Let(pieces, lp.Call("max", (most, lp.Const(1, I64)), I64)))
    count = poly(pieces.atom)
    out.append(lp.Let(length, lp.Index((rounds + count - 1) // count)))
    p = poly(0)
    for sym, extent in zip(nest.syms, extents, strict=True):
        p = p * extent + poly(sym)
    parts = {b: names.buffer(f"{b.name}_parts", b.dtype, (count, poly(points.atom)), "temp", "sums of pieces of columns") for b in found.targets}
    accs = {b: lp.Acc(names.var("sum", b.dtype), _MONOID[u.op]) for b, u in found.targets.items()}
    c, end = names.sym("c"), names.var("end", I64, True)
    first = low + poly(c) * poly(length.atom)
    one = lp.Accumulate(loop.sym, first, poly(end.atom), _adding(loop.body, accs), list(accs.values()))
    body: list[lp.Stmt] = [lp.Let(end, lp.Call("min", (lp.Index(first + poly(length.atom)), lp.Index(high)), I64)), one]
    body += [lp.Store(parts[b], (poly(c), p), lp.Use(a.var)) for b, a in accs.items()]
    cut: list[k.Statement] = [lp.Alloc(b) for b in parts.values()]
    cut += flat_kernel(lowering, Nest((c, *nest.syms), (count, *nest.extents), nest.env, body), (count, *extents))
    q = names.sym("q")
    whole = lp.Accumulate(q, poly(0), count, [lp.Add(a.var, a.monoid, lp.Load(parts[b], (poly(q), p))) for b, a in accs.items()], list(accs.values()))
    last: list[lp.Stmt] = [whole, *_storing(found.start, accs), *found.rest]
    cut += lowering.at_points(Nest(nest.syms, nest.extents, nest.env, last), extents)
    cut += [lp.Free(b) for b in parts.values()]
    return [*out, lp.If((lp.Test("ge", count - 2),), cut, flat_kernel(lowering, nest, extents))]  # type: ignore[arg-type]


def _adding(stmts: Sequence[lp.Stmt], accs: dict[lp.Buffer, lp.Acc]) -> list[lp.Stmt]:
    """The statements of a round with sums in scalars."""
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.Update(buffer, _, _, value):
                out.append(lp.Add(accs[buffer].var, accs[buffer].monoid, value))
            case lp.For(sym, low, high, body):
                out.append(lp.For(sym, low, high, _adding(body, accs), True))
            case lp.If(tests, then, orelse):
                out.append(lp.If(tests, _adding(then, accs), _adding(orelse, accs)))
            case _:
                out.append(s)
    return out


def _storing(stmts: Sequence[lp.Stmt], accs: dict[lp.Buffer, lp.Acc]) -> list[lp.Stmt]:
    """The statements that start elements, with the sums instead."""
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.Store(buffer, index, _):
                out.append(lp.Store(buffer, index, lp.Use(accs[buffer].var)))
            case lp.For(sym, low, high, body):
                out.append(lp.For(sym, low, high, _storing(body, accs), True))
            case _:
                out.append(s)
    return out

