"""bits="portable" in loops: what core/portable.py says, written out, before any target looks at them.

    accumulate s over r in low..high: s += e          becomes, for more than 256 rounds,
    accumulate s over c: accumulate t over b: accumulate u over r in the rounds of block b that are in low..high: u += e;  t += u;  s += t

    pieces lo..hi of n accumulate s: body             becomes
    pieces of the blocks of n: u = what body adds in block b; parts[b] = u
    pieces of the blocks of blocks: t = accumulate parts[b] in order; sums[c] = t
    s = accumulate sums[c] in order

Block b has the rounds 256 b .. 256 b + 255, block of blocks c the blocks 256 c .. 256 c + 255, wherever the range begins: an element that a condition leaves out, or a range that
was shortened because of one, is the same as a neutral element. Everything else keeps its order: from here on nothing may be regrouped, and functions that
processors and libraries compute differently are calls of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from atoll.core.portable import BLOCK, has_own
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.recipes.pairwise import column_updates
from atoll.loops.transform.copier import fresh, fresh_like, names
from atoll.loops.transform.indices import with_values
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import may_be_negative
from atoll.loops.transform.sums_of_sums import sums_of_sums
from atoll.loops.transform.walk import innermost_first, replaced
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64


def portable(fn: lp.Function, in_blocks: bool, in_memory: set[lp.Buffer]) -> lp.Function | None:
    """The function with its sums in blocks and functions of our own. `in_memory`: arrays that sums are made in; None where one of them cannot be cut there."""
    with names("p"):
        fn.body = replaced(fn.body, _own)
        if in_blocks:
            wanted = [s for s in lp.walk(fn.body) if isinstance(s, lp.Update) and s.buffer in in_memory and _rounds([lp.Acc(lp.Var("", s.buffer.dtype), "")])]
            done: list[lp.Update] = []
            fn.body = innermost_first(fn.body, lambda stmt, known: _columns(stmt, in_memory, done))
            if len(done) != len(wanted):
                return None
            cut: set[Any] = {x for s in lp.walk(fn.body) if isinstance(s, lp.Chunks) and _rounds(s.accs) for x in (s.low, s.high)}
            fn.body = innermost_first(fn.body, lambda stmt, known: _sums(stmt, cut))
    return fn


def products(stmts: lp.Stmts) -> lp.Stmts:
    """Products of floats as calls, last of all: gcc 12 fuses a*b + c where every other sum of neighbours is a difference, whatever -ffp-contract says."""

    def change(x: Any) -> Any:
        return replace(x, op="portable_mul") if isinstance(x, lp.Call) and x.op == "mul" and x.dtype.is_float else x

    found: lp.Stmts = replaced(stmts, change)
    return found


def _own(x: Any) -> Any:
    if isinstance(x, lp.Call) and x.args and has_own(x.op, x.args[-1].dtype):
        return replace(x, op=f"portable_{x.op}")
    return x


def _sums(stmt: lp.Stmt, cut: set[Any]) -> list[lp.Stmt] | None:
    """`cut`: the bounds of pieces that become blocks, which nothing inside them cuts again."""
    if isinstance(stmt, lp.Accumulate) and _rounds(stmt.accs) and not (stmt.low.single() in cut and stmt.high.single() in cut):
        return _accumulate(stmt)
    if isinstance(stmt, lp.Chunks) and _rounds(stmt.accs):
        return _pieces(stmt)
    return None


def _columns(stmt: lp.Stmt, sums: set[lp.Buffer], done: list[lp.Update]) -> list[lp.Stmt] | None:
    """Sums of columns, row by row: near sums of 256 rows, far ones of 256 of these (loops/transform/sums_of_sums.py). `done`: what is as it should be."""
    if not isinstance(stmt, lp.For) or stmt.low != poly(0) or len(stmt.body) != 1 or not isinstance(inner := stmt.body[0], lp.For):
        return None
    found = column_updates(stmt, ("f32", "f64", "c64", "c128"), least=1)
    if found is None or not {u.buffer for u in found.updates} <= sums:
        return None
    done += found.updates
    rounds = stmt.high.const()
    if rounds is not None and rounds <= BLOCK:
        return None
    made = sums_of_sums(found, BLOCK, (inner.high - inner.low,))
    if isinstance(made, Refused):
        return None
    many = [lp.Test("ge", stmt.high - (BLOCK + 1))]
    if may_be_negative(inner.high - inner.low):
        many.append(lp.Test("ge", inner.high - inner.low))
    return [lp.If(tuple(many), made, [stmt])]


def _rounds(accs: Any) -> bool:
    """What they amount to depends on the order: rounding, or which of two zeros is the least."""
    return any(a.var.dtype.is_float or a.var.dtype.is_complex for a in accs)


def _neutral(acc: lp.Acc) -> lp.Const:
    return lp.Const(MONOIDS[acc.monoid][1](acc.var.dtype), acc.var.dtype)


def _small(name: str) -> lp.Var:
    found = fresh_like(name, I64)
    found.small = True
    return found


def _within(name: str, op: str, first: Poly, second: Poly, out: list[lp.Stmt]) -> Poly:
    """The lesser or greater of two bounds."""
    var = _small(name)
    out.append(lp.Let(var, lp.Call(op, (lp.Index(first), lp.Index(second)), I64)))
    return poly(var.atom)


def _accumulate(loop: lp.Accumulate) -> list[lp.Stmt] | None:
    count = (loop.high - loop.low).const()
    if count is not None and count <= BLOCK and loop.low == poly(0):
        return None
    inner = [lp.Acc(fresh(a.var), a.monoid) for a in loop.accs]
    body = _adding(loop.body, {a.var: i.var for a, i in zip(loop.accs, inner, strict=True)})

    def rounds(block: Poly, out: list[lp.Stmt]) -> lp.Stmt:
        first = block * BLOCK
        low = first if loop.low == poly(0) else _within("begin", "max", first, loop.low, out)
        return lp.Accumulate(loop.sym, low, _within("end", "min", first + BLOCK, loop.high, out), body, inner, True)

    return [_blocks(loop.sym.name, loop.low, loop.high, loop.accs, inner, rounds)]


def _blocks(name: str, low: Poly, high: Poly, accs: Any, inner: list[lp.Acc], rounds: Callable[[Poly, list[lp.Stmt]], lp.Stmt]) -> lp.Stmt:
    """accs := what `rounds` adds to `inner` for the blocks of low..high, block of blocks by block of blocks."""
    middle = [lp.Acc(fresh(a.var), a.monoid) for a in accs]
    c, b = Sym(f"{name}_c"), Sym(f"{name}_b")
    each: list[lp.Stmt] = []
    each.append(rounds(poly(b), each))
    each += [lp.Add(m.var, m.monoid, lp.Use(i.var)) for m, i in zip(middle, inner, strict=True)]
    group: list[lp.Stmt] = []
    first = poly(c) * BLOCK
    start = first if low == poly(0) else _within("first", "max", first, low // BLOCK, group)
    stop = _within("last", "min", first + BLOCK, (high + (BLOCK - 1)) // BLOCK, group)
    group.append(lp.Accumulate(b, start, stop, each, middle, True))
    group += [lp.Add(a.var, a.monoid, lp.Use(m.var)) for a, m in zip(accs, middle, strict=True)]
    whole = BLOCK * BLOCK
    return lp.Accumulate(c, low // whole, (high + (whole - 1)) // whole, group, list(accs), True)


def _adding(stmts: lp.Stmts, instead: dict[lp.Var, lp.Var]) -> lp.Stmts:
    """The same statements adding to other variables."""

    def change(x: Any) -> Any:
        return replace(x, var=instead[x.var]) if isinstance(x, lp.Add) and x.var in instead else x

    found: lp.Stmts = replaced(stmts, change)
    return found


def _pieces(chunk: lp.Chunks) -> list[lp.Stmt]:
    """A sum over pieces of a range, by threads: what the blocks amount to, then their blocks, then what is left, in order."""
    out: list[lp.Stmt] = []
    rounds = _within("rounds", "max", chunk.extent, poly(0), out) if may_be_negative(chunk.extent) else chunk.extent
    blocks = (rounds + (BLOCK - 1)) // BLOCK
    groups = (rounds + (BLOCK * BLOCK - 1)) // (BLOCK * BLOCK)
    parts, sums = ([_parts(a, p, count) for a in chunk.accs] for p, count in (("part", blocks), ("sum", groups)))
    out += [lp.Alloc(b) for b in (*parts, *sums)]
    own = [fresh(a.var) for a in chunk.accs]
    b = Sym("block")
    body: list[lp.Stmt] = [lp.Declare(v, _neutral(a)) for v, a in zip(own, chunk.accs, strict=True)]
    first = poly(b) * BLOCK
    last = _within("end", "min", first + BLOCK, rounds, body)
    into = {a.var: (v, MONOIDS[a.monoid][0]) for a, v in zip(chunk.accs, own, strict=True)}
    body += _assigning(with_values(chunk.body, {chunk.low: first, chunk.high: last}), into)
    body += [lp.Store(p, (poly(b),), lp.Use(v)) for p, v in zip(parts, own, strict=True)]
    out.append(_in_pieces(b, blocks, BLOCK * chunk.work, body))
    c = Sym("group")
    out.append(_in_pieces(c, groups, poly(BLOCK), _in_order(c, blocks, chunk.accs, parts, sums)))
    q = Sym("group")
    total = [lp.Acc(fresh(a.var), a.monoid) for a in chunk.accs]
    out.append(lp.Accumulate(q, poly(0), groups, [lp.Add(t.var, t.monoid, lp.Load(s, (poly(q),))) for t, s in zip(total, sums, strict=True)], total, True))
    out += [lp.Assign(a.var, lp.Use(t.var)) for a, t in zip(chunk.accs, total, strict=True)]
    return [*out, *(lp.Free(x) for x in (*parts, *sums))]


def _parts(acc: lp.Acc, name: str, count: Poly) -> lp.Buffer:
    made = lp.Buffer(fresh_like(f"{acc.var.name}_{name}", acc.var.dtype).name, acc.var.dtype, (count,), "temp", "what the blocks of a sum amount to")
    made.label, made.origin = acc.var.label or acc.var.name, acc.var.origin
    return made


def _in_pieces(sym: Sym, extent: Poly, work: Poly, body: list[lp.Stmt]) -> lp.Chunks:
    low, high = Sym(f"{sym.name}_lo"), Sym(f"{sym.name}_hi")
    return lp.Chunks(low, high, extent, work, [lp.For(sym, poly(low), poly(high), body, True)])


def _in_order(c: Sym, count: Poly, accs: Any, parts: list[lp.Buffer], sums: list[lp.Buffer]) -> list[lp.Stmt]:
    """sums[c] = parts of 256 blocks, one after the other."""
    out: list[lp.Stmt] = []
    last = _within("last", "min", poly(c) * BLOCK + BLOCK, count, out)
    k = Sym("block")
    mine = [lp.Acc(fresh(a.var), a.monoid) for a in accs]
    out.append(lp.Accumulate(k, poly(c) * BLOCK, last, [lp.Add(m.var, m.monoid, lp.Load(p, (poly(k),))) for m, p in zip(mine, parts, strict=True)], mine, True))
    return [*out, *(lp.Store(s, (poly(c),), lp.Use(m.var)) for s, m in zip(sums, mine, strict=True))]


def _assigning(stmts: lp.Stmts, into: dict[lp.Var, tuple[lp.Var, str]]) -> lp.Stmts:
    """Additions to the sum of a piece as assignments to a variable."""

    def change(x: Any) -> Any:
        if isinstance(x, lp.Add) and x.var in into:
            var, op = into[x.var]
            return lp.Assign(var, lp.Call(op, (lp.Use(var), x.value), var.dtype))
        return x

    found: lp.Stmts = replaced(stmts, change)
    return found
