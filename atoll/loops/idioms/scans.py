"""Scans in one pass over memory, in parallel: totals of short runs, their scan, then every run from its own start.

    for in order r in 0..n:  s = s op v(r);  y[r] = s
becomes, for blocks that stay in the cache,
    pieces of chunks:  totals[c] = op of v over chunk c                       2048 elements in a chunk
    for in order:      starts[c] = s;  s = s op totals[c]
    pieces of chunks:  s = starts[c];  for in order r in the chunk:  s = s op v(r);  y[r] = s

The last loop is scanned in vectors by the C compiler (`scan`), one stream through memory: eight runs of a chunk side by side, without vectors, took
two and a half times as long when y was not in a cache. Lengths are fixed, so results do not depend on threads.

Running minimums and maximums of floats have four runs in a chunk, which do not wait for each other. What comes out of a chunk tells whether there
was a NaN before its end. Where there was none a plain comparison is enough.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.regroup import monoid_of
from atoll.loops.transform.split import begun, whole_blocks
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64


def scans(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> list[lp.Stmt]:
    """Loops of the program itself, not those inside pieces or other loops."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        step = _step(stmt) if isinstance(stmt, lp.For) else None
        if not isinstance(stmt, lp.For) or step is None or not (reassociate or step.var.dtype.is_integer):
            return None
        number, length = _runs(step)
        decisions.append(f"the scan over {stmt.sym} is made in runs of {length} elements, in parallel")
        long = lp.Test("ge", stmt.high - 2 * number * length)
        return [lp.If((long,), _in_runs(stmt, step), [stmt])]

    return innermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, lp.If))


def _step(loop: lp.For) -> lp.Assign | None:
    """s = s op v, when that is all the rounds of a loop have to do with each other."""
    if loop.parallel or loop.vector or loop.unroll or loop.low.const() != 0 or not copyable(loop.body):
        return None
    if not all(isinstance(s, (lp.Let, lp.Assign, lp.Store)) for s in loop.body):
        return None
    assigned = [s for s in loop.body if isinstance(s, lp.Assign)]
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if len(assigned) != 1 or not stores:
        return None
    step = assigned[0]
    value = step.value
    if not isinstance(value, lp.Call) or monoid_of(value.op) is None or len(value.args) != 2 or value.args[0] != lp.Use(step.var):
        return None
    if step.var.dtype.is_complex or step.var.dtype is BOOL or step.var in set(lp.used_vars(value.args[1])):
        return None
    before = loop.body[: loop.body.index(step)]
    needed = [s for s in before if isinstance(s, lp.Let) and s.var in _wanted(value.args[1], before)]
    if any(step.var in set(lp.used_vars(s)) for s in needed) or not _cheap([value.args[1], *(s.value for s in needed)]):
        return None
    written = {s.buffer for s in stores}
    if any(x.buffer in written for s in loop.body for x in loads(s.value)):  # type: ignore[union-attr]
        return None
    for s in stores:
        steps = [p.coefficient(loop.sym) for p in s.index]
        if not any(c is not None and c.const() not in (None, 0) for c in steps) or any(isinstance(a, lp.VarAtom) for p in s.index for a in p.leaves()):
            return None
    return step


def _wanted(value: lp.Expr, before: lp.Stmts) -> set[lp.Var]:
    wanted = set(lp.used_vars(value))
    for s in reversed(before):
        if isinstance(s, lp.Let) and s.var in wanted:
            wanted |= set(lp.used_vars(s.value))
    return wanted


def _cheap(values: list[lp.Expr]) -> bool:
    """Worth computing twice."""
    for e in values:
        if isinstance(e, lp.Call):
            if e.op not in profit.QUICK or not _cheap(list(e.args)):
                return False
        elif isinstance(e, lp.Cast):
            if not _cheap([e.arg]):
                return False
        elif isinstance(e, (lp.Choose, lp.Truth)):
            return False
    return True


def _compares(step: lp.Assign) -> bool:
    """A running minimum or maximum of floats."""
    return isinstance(step.value, lp.Call) and step.value.op in ("min", "max") and step.var.dtype.is_float


def _runs(step: lp.Assign) -> tuple[int, int]:
    return (profit.COMPARED_RUNS, profit.COMPARED_LENGTH) if _compares(step) else (1, profit.SCAN_CHUNK)


def _in_runs(loop: lp.For, step: lp.Assign) -> list[lp.Stmt]:
    assert isinstance(step.value, lp.Call)
    number, length = _runs(step)
    in_chunk = number * length
    s, dtype = step.var, step.var.dtype
    op, monoid = step.value.op, str(monoid_of(step.value.op))
    compares = _compares(step)
    ends = lp.Buffer(f"{s.name}_ends", dtype, (poly(profit.SCAN_CHUNKS),), "temp", "what comes out of the chunks of a scan").called(s.shown)
    totals = lp.Buffer(f"{s.name}_totals", dtype, (poly(profit.SCAN_CHUNKS), poly(number)), "temp", "totals of the runs of a scan").called(s.shown)
    whole = whole_blocks(loop.high, in_chunk)  # of at least two of them
    block = Sym("block")
    count = fresh_like("chunks", I64)
    body: list[lp.Stmt] = [lp.Let(count, lp.Call("min", (lp.Index(poly(profit.SCAN_CHUNKS)), lp.Index(whole - profit.SCAN_CHUNKS * poly(block))), I64))]
    low, high, chunk, run = Sym("chunk_lo"), Sym("chunk_hi"), Sym("chunk"), Sym("run")

    def first(c: Sym, q: Poly | int) -> Poly:
        """The first element of a run."""
        return (profit.SCAN_CHUNKS * poly(block) + c) * in_chunk + length * poly(q)

    # totals
    t = Sym(loop.sym.name)
    copier = Copier({loop.sym: first(chunk, poly(run)) + t})
    before = loop.body[: loop.body.index(step)]
    wanted = _wanted(step.value.args[1], before)
    lets: list[lp.Stmt] = [x for x in before if isinstance(x, lp.Let) and x.var in wanted]
    inner = copier.stmts(lets)
    total = fresh_like(s.name, dtype)
    inner.append(lp.Add(total, monoid, copier.expr(step.value.args[1])))
    summed: list[lp.Stmt] = [lp.Accumulate(t, poly(0), poly(length), inner, [lp.Acc(total, monoid)]), lp.Store(totals, (poly(chunk), poly(run)), lp.Use(total))]
    runs: list[lp.Stmt] = [lp.For(run, poly(0), poly(number), summed, True)]
    body.append(lp.Chunks(low, high, poly(count.atom), poly(4 * in_chunk), [lp.For(chunk, poly(low), poly(high), runs, True)]))

    # starts: the totals become what is before each run
    c, q, here = Sym("chunk"), Sym("run"), fresh_like(s.name, dtype)
    place = (poly(c), poly(q))
    each: list[lp.Stmt] = [
        lp.Let(here, lp.Load(totals, place)),
        lp.Store(totals, place, lp.Use(s)),
        lp.Assign(s, lp.Call(op, (lp.Use(s), lp.Use(here)), dtype)),
    ]
    scanned: list[lp.Stmt] = [lp.For(q, poly(0), poly(number), each, False)]
    if compares:
        scanned.append(lp.Store(ends, (poly(c),), lp.Use(s)))
    body.append(lp.For(c, poly(0), poly(count.atom), scanned, False))

    # every run from its start
    low, high, chunk = Sym("chunk_lo"), Sym("chunk_hi"), Sym("chunk")
    sums = [fresh_like(s.name, dtype) for _ in range(number)]

    def rounds(plain: bool) -> lp.Stmt:
        t = Sym(loop.sym.name)
        stmts: list[lp.Stmt] = []
        for k, own in enumerate(sums):
            copy = _Renamed({loop.sym: first(chunk, k) + t}, s, own)
            for x in loop.body:
                stmts += _compared(copy, step, own) if plain and x is step else copy.stmt(x)
        return lp.For(t, poly(0), poly(length), stmts, False, scan=number == 1)

    going: list[lp.Stmt] = [lp.Declare(own, lp.Load(totals, (poly(chunk), poly(k)))) for k, own in enumerate(sums)]
    if compares:
        end = fresh_like("end", dtype)
        is_number = lp.Call("eq", (lp.Use(end), lp.Use(end)), BOOL)
        going += [lp.Let(end, lp.Load(ends, (poly(chunk),))), lp.If((lp.Test("true", None, is_number),), [rounds(True)], [rounds(False)])]
    else:
        going.append(rounds(False))
    body.append(lp.Chunks(low, high, poly(count.atom), poly(4 * in_chunk), [lp.For(chunk, poly(low), poly(high), going, True)]))

    blocks = begun(whole, profit.SCAN_CHUNKS)
    rest = lp.For(loop.sym, whole * in_chunk, loop.high, Copier({}).stmts(loop.body), False)
    own_buffers = [totals, ends] if compares else [totals]
    return [*map(lp.Alloc, own_buffers), lp.For(block, poly(0), blocks, body, False), rest, *map(lp.Free, own_buffers)]


def _compared(copy: Copier, step: lp.Assign, own: lp.Var) -> list[lp.Stmt]:
    """own = own op v where neither is NaN."""
    assert isinstance(step.value, lp.Call)
    value = fresh_like("v", own.dtype)
    stays = lp.Call("gt" if step.value.op == "max" else "lt", (lp.Use(own), lp.Use(value)), BOOL)
    chosen = lp.Choose((lp.Test("true", None, stays),), lp.Use(own), lp.Use(value))
    return [lp.Let(value, copy.expr(step.value.args[1])), lp.Assign(own, chosen)]


class _Renamed(Copier):
    """A copy in which the running value is another variable."""

    def __init__(self, env: dict[Atom, Poly], old: lp.Var, new: lp.Var) -> None:
        super().__init__({**env, old.atom: poly(new.atom)})
        self.vars[old] = new
