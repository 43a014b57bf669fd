"""From loops to kernels and the host program that launches them: the second way down from the plan.

    pieces, parallel loop        a kernel with a thread for every point of the nest (points.py)
    sum over pieces              a kernel that reduces, in one order that depends on sizes only (reduce.py)
    sort                         kernels that merge (sorting.py)
    loop in order, while, if     on the host where there is parallel work inside; else a kernel of one thread
    scalars                      on the host where they are made of sizes and arguments; else in a cell on the device

A scalar that kernels make lives in a cell. Kernels read it there; the host fetches it only where it must know it: for a bound of a loop, a test, the
size of an array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.backends.c.within import guarded
from atoll.backends.cuda import language as k
from atoll.backends.cuda import radix, tried
from atoll.backends.cuda.best import Best, best_kernel, find_best
from atoll.backends.cuda.check import check
from atoll.backends.cuda.columns import in_scalars
from atoll.backends.cuda.free import Mentioned, parameters
from atoll.backends.cuda.group import by_size, group_kernel, is_wide, loop_in_block
from atoll.backends.cuda.histograms import find_histogram, histogram_kernels
from atoll.backends.cuda.history import find_history, history_kernel
from atoll.backends.cuda.matrix import batched, has_kernel, matrix_product, rows_of_product
from atoll.backends.cuda.narrow import with_narrow
from atoll.backends.cuda.pieces import find_sums, segments, sum_kernels
from atoll.backends.cuda.points import Nest, flat_kernel, points
from atoll.backends.cuda.prepare import prepared
from atoll.backends.cuda.radix import Radix, has_digits
from atoll.backends.cuda.record import recorded
from atoll.backends.cuda.reduce import reducible, reduction
from atoll.backends.cuda.scans import find_scan, scan_kernels
from atoll.backends.cuda.sorting import Sorting
from atoll.backends.cuda.threads import Names, Scratch, Thread, refuse
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.transform.split import may_be_negative
from atoll.sizes import Poly, poly
from atoll.types.dtypes import F32, F64, I64, U32, DType

_ON_HOST = {"add", "sub", "mul", "neg", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not", "select", "abs", "floordiv", "mod", "extent", "rounds", "sign"}
_ON_HOST_FLOATS = {"add", "sub", "mul", "div", "neg", "sqrt", "lt", "le", "gt", "ge", "eq", "ne"}  # which every processor rounds in the same way
_SPREADS = (lp.Chunks, lp.Helper, lp.Product, lp.CopyBuffer, lp.Swap, lp.Alloc, lp.Free)
_FOLLOWS = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update)
ONE = poly(1)
FEW = 64  # points of a parallel loop that one thread does as well


def to_kernels(fn: lp.Function, reassociate: bool = True, library: bool = True) -> k.Program:
    """The program of a function's loops. `library`: products may be left to one the device has, whose sums are in an order of its own."""
    made = _Lowering(prepared(guarded(fn)), reassociate, library and reassociate).program()
    return check(recorded(made), "loops are recorded")


@dataclass(frozen=True, slots=True)
class Made:
    """Parts of a program under construction that other files need: names, and how a kernel is added and launched."""

    lowering: _Lowering

    @property
    def names(self) -> Names:
        return self.lowering.names


class _Lowering:
    def __init__(self, fn: lp.Function, reassociate: bool, library: bool) -> None:
        self.fn, self.reassociate, self.library = fn, reassociate, library
        self.names = Names()
        self.kernels: list[k.Kernel] = []
        self.cells: dict[lp.Var, lp.Buffer] = {}
        self.current: set[lp.Var] = set()  # cells whose host copy is right
        self.decisions: list[str] = []
        self.depth = 0  # loops and choices of the host around
        self.tail: list[lp.Stmt] = []  # statements that a reduction may do at its end
        self.host = _host_variables(fn)

    def program(self) -> k.Program:
        body = self.stmts(self.fn.body)
        return check(k.Program(self.fn, tuple(self.kernels), tuple(self.cells.items()), tuple(body), tuple(self.decisions)))

    # -- kernels

    def cell(self, var: lp.Var) -> lp.Buffer:
        if var not in self.cells:
            made = lp.Buffer(f"{var.name}_cell", var.dtype, (), "temp", "a scalar on the device")
            made.label, made.origin = var.label or var.name, var.origin
            self.cells[var] = made
        return self.cells[var]

    def counter(self) -> lp.Buffer:
        """A cell that counts blocks; 0 between kernels."""
        return self.cell(self.names.var("arrived", U32))

    def launch(self, what: str, body: list[k.Statement], threads: int, grid: Poly, shared: tuple[lp.Buffer, ...] = (), sets: tuple[lp.Var, ...] = (), note: str = "", grid_y: Poly = ONE, resident: int = 0, own: tuple[lp.Var, ...] = ()) -> list[k.Statement]:
        """A kernel of these statements, and its launch. Scalars in cells are read first, those in `sets` written last."""
        used = [v for v in Mentioned(body).vars if v not in self.host and v not in sets and v not in own]
        before = [lp.Let(v, lp.Load(self.cell(v), ())) for v in used]
        whole = (*before, *body)
        kernel = k.Kernel(f"k{len(self.kernels)}_{what}", parameters(whole, shared), threads, whole, shared, resident, note)
        self.kernels.append(kernel)
        self.current -= set(sets)
        return [*self.known((grid, grid_y)), k.Launch(kernel, (grid, grid_y))]

    def in_both_widths(self, launched: list[k.Statement], ranges: dict[lp.Var, Poly]) -> list[k.Statement]:
        """What ends with the launch of a kernel, with a version for small indices too; `ranges`: how large its variables are at most."""
        *before, launch = launched
        assert isinstance(launch, k.Launch)
        found = with_narrow(launch, ranges)
        if found is None:
            return launched
        self.kernels.append(found[0])
        return [*before, found[1]]

    def known(self, x: Any) -> list[k.Statement]:
        """Fetches of what the host must know to compute x."""
        needed = [v for v in dict.fromkeys(lp.used_vars(x)) if v not in self.host and v not in self.current]
        self.current |= set(needed)
        return [k.Fetch(v, self.cell(v)) for v in needed]

    def one_thread(self, stmts: lp.Stmts) -> list[k.Statement]:
        """Statements that one thread does."""
        scratch = Scratch(poly(0), poly(1))
        body = Thread(self.names, {}, poly(0), scratch).stmts(stmts)
        declared = {s.var for s in stmts if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in stmts if isinstance(s, lp.Accumulate) for a in s.accs}
        inside = {s.var for s in lp.walk(stmts) if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in lp.walk(stmts) if isinstance(s, lp.Accumulate) for a in s.accs}
        changed = [v for v in dict.fromkeys(s.var for s in lp.walk(stmts) if isinstance(s, (lp.Assign, lp.Add))) if v not in inside]
        kept = [v for v in dict.fromkeys(_declared_in_order(stmts)) if v in declared]
        first: list[k.Statement] = [lp.Declare(v, lp.Load(self.cell(v), ())) for v in changed]
        last: list[k.Statement] = [lp.Store(self.cell(v), (), lp.Use(v)) for v in (*changed, *kept)]
        region = k.Region((*first, *body, *last))
        what = "thread"
        return self.with_scratch(scratch, lambda: self.launch(what, [region], 1, poly(1), sets=(*changed, *kept), note="one thread"))

    def with_scratch(self, scratch: Scratch, launch: Any) -> list[k.Statement]:
        """Memory of threads around a launch."""
        out: list[k.Statement] = []
        for b in scratch.buffers:
            out += self.known(b.extents)
            out.append(lp.Alloc(b))
        out += launch()
        return [*out, *(lp.Free(b) for b in scratch.buffers)]

    def extent(self, p: Poly, out: list[k.Statement]) -> Poly:
        """A number of rounds that is not negative, and known to the host."""
        out += self.known(p)
        if not may_be_negative(p):
            return p
        var = self.names.var("extent", I64, True)
        self.host.add(var)
        out.append(lp.Let(var, lp.Call("max", (lp.Index(p), lp.Const(0, I64)), I64)))
        return poly(var.atom)

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> list[k.Statement]:
        """Statements on the host; those that need not be there are put together for one thread."""
        out: list[k.Statement] = []
        waiting: list[lp.Stmt] = []
        taken = 0
        for place, stmt in enumerate(stmts):
            if place < taken:
                continue
            if self.is_for_one_thread(stmt):
                waiting.append(stmt)
                continue
            accs = self.reduced(stmt)
            search = find_best(stmt) if isinstance(stmt, lp.For) and _is_long(stmt) else None
            if search is not None:
                taken, start = self.after(stmts, place), self.starts(search.state, waiting)
                waiting = [s for s in waiting if not (isinstance(s, lp.Declare) and s.var in start)]
                out += self.one_thread(waiting) if waiting else []
                waiting = []
                out += self.search(search, start, list(stmts[place + 1 : taken]))
                continue
            running = find_scan(stmt, self.reassociate) if isinstance(stmt, lp.For) and not stmt.parallel and _is_long(stmt) and find_histogram(stmt) is None else None
            if running is not None:
                start = self.starts((running.acc.var,), waiting)
                waiting = [s for s in waiting if not (isinstance(s, lp.Declare) and s.var in start)]
                out += [*(self.one_thread(waiting) if waiting else []), *scan_kernels(self, running, start)]
                waiting = []
                continue
            if accs:  # it sets them whatever they were, and its last block may do what follows
                waiting = [s for s in waiting if not (isinstance(s, lp.Declare) and s.var in accs)] if not accs & _read(waiting) else waiting
                taken = self.after(stmts, place)
            if waiting:
                out += self.one_thread(waiting)
                waiting = []
            follows = list(stmts[place + 1 : taken]) if accs else []
            out += [s for s in follows if not self.is_for_one_thread(s)]  # what the host makes of what it knows
            self.tail = [s for s in follows if self.is_for_one_thread(s)]
            out += self.stmt(stmt)
        return [*out, *self.one_thread(waiting)] if waiting else out

    def after(self, stmts: lp.Stmts, place: int) -> int:
        """Up to where the last block of a reduction may go on: before what its threads read is changed."""
        taken, read = place + 1, _read([stmts[place]])
        while taken < len(stmts) and self.may_follow(stmts[taken], read):
            taken += 1
        return taken

    def may_follow(self, stmt: lp.Stmt, read: set[lp.Var]) -> bool:
        changes = isinstance(stmt, lp.Assign) and stmt.var in read
        return isinstance(stmt, _FOLLOWS) and not changes and (self.is_for_one_thread(stmt) or isinstance(stmt, lp.Let))

    def starts(self, state: tuple[lp.Var, ...], waiting: list[lp.Stmt]) -> dict[lp.Var, lp.Expr]:
        """What variables of a search or a scan are before it, if a statement that waits declares them as a constant and nothing there reads them."""
        found = {s.var: s.value for s in waiting if isinstance(s, lp.Declare) and s.var in state and isinstance(s.value, lp.Const)}
        used = _read(waiting) | {s.var for s in waiting if isinstance(s, lp.Assign)}
        return {v: e for v, e in found.items() if v not in used}

    def search(self, search: Best, start: dict[lp.Var, lp.Expr], follows: list[lp.Stmt]) -> list[k.Statement]:
        out: list[k.Statement] = [s for s in follows if not self.is_for_one_thread(s)]
        self.tail = [s for s in follows if self.is_for_one_thread(s)]
        return [*out, *best_kernel(self, search, start, self.following)]

    def reduced(self, stmt: lp.Stmt) -> set[lp.Var]:
        """What a statement reduces to, by a kernel."""
        if (isinstance(stmt, lp.Chunks) and not self.in_order(stmt)) or (isinstance(stmt, lp.Accumulate) and not stmt.exact and self.reassociate and reducible(stmt)):
            return {a.var for a in stmt.accs}
        return set()

    def following(self) -> tuple[list[k.Statement], list[lp.Var]]:
        """What one thread does after a reduction, and the scalars it sets."""
        tail, self.tail = self.tail, []
        body = Thread(self.names, {}, poly(0)).stmts(tail)
        made = _declared_in_order(tail)
        changed = [v for v in dict.fromkeys(s.var for s in tail if isinstance(s, lp.Assign)) if v not in made]
        first: list[k.Statement] = [lp.Declare(v, lp.Load(self.cell(v), ())) for v in changed]
        return [*first, *body, *(lp.Store(self.cell(v), (), lp.Use(v)) for v in (*changed, *made))], [*changed, *made]

    def in_order(self, chunk: lp.Chunks) -> bool:
        """A sum that goes from left to right."""
        return not self.reassociate and any(not a.var.dtype.is_integer and a.var.dtype.kind != "b" for a in chunk.accs)

    def is_for_one_thread(self, stmt: lp.Stmt) -> bool:
        match stmt:
            case lp.Chunks() if self.in_order(stmt):
                return True
            case lp.Let(var, _) | lp.Declare(var, _) | lp.Assign(var, _):
                return var not in self.host
            case lp.Store() | lp.Update() | lp.Add():
                return True
            case lp.Check(tests, _, args):
                return not self.is_host((tests, args))
            case lp.For(parallel=False) if _is_long(stmt) and (find_histogram(stmt) is not None or find_scan(stmt, self.reassociate) is not None or find_best(stmt) is not None):
                return False
            case lp.For() if self.reassociate and _is_long(stmt) and find_history(stmt) is not None:
                return False
            case lp.If() if self.is_all_host(stmt):
                return False
            case lp.For() | lp.Accumulate() | lp.If() | lp.Forever():
                return not spreads(stmt)
        return False

    def is_all_host(self, choice: lp.If) -> bool:
        """The host does it by itself: checks and scalars that it knows."""
        if not self.is_host(choice.tests):
            return False
        for s in (*choice.then, *choice.orelse):
            match s:
                case lp.Let(var, _) | lp.Declare(var, _) | lp.Assign(var, _) if var in self.host:
                    continue
                case lp.Check(tests, _, args) if self.is_host((tests, args)):
                    continue
                case lp.If() if self.is_all_host(s):
                    continue
                case lp.Note():
                    continue
            return False
        return True

    def is_host(self, x: Any) -> bool:
        return is_host_value(x, self.host)

    def inner(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        """A body that may run any number of times."""
        self.current, self.depth = set(), self.depth + 1
        made = self.stmts(stmts)
        self.current, self.depth = set(), self.depth - 1
        return made  # type: ignore[return-value]

    def stmt(self, stmt: lp.Stmt) -> list[k.Statement]:
        match stmt:
            case lp.Let() | lp.Declare() | lp.Assign() | lp.Note() | lp.Check() | lp.Free() | lp.Swap():
                return [stmt]
            case lp.Alloc(buffer):
                return [*self.known(buffer.extents), stmt]
            case lp.CopyBuffer(target, source) if source.kind == "const":  # it is in the text of kernels, where the host has no address of it
                syms = [self.names.sym("c") for _ in target.extents]
                index = tuple(poly(s) for s in syms)
                copied: list[lp.Stmt] = [lp.Store(target, index, lp.Load(source, index))]
                for sym, extent in zip(reversed(syms), reversed(target.extents), strict=True):
                    copied = [lp.For(sym, poly(0), extent, copied, parallel=True)]
                return self.parallel(copied)
            case lp.CopyBuffer(target, source):
                return [*self.known((target.extents, source.extents)), stmt]
            case lp.For() if stmt.parallel:
                return self.parallel([stmt])
            case lp.For() if _is_long(stmt) and (histogram := find_histogram(stmt)) is not None:
                return histogram_kernels(self, histogram)
            case lp.For() if self.reassociate and _is_long(stmt) and (history := find_history(stmt)) is not None:
                return history_kernel(self, history)
            case lp.For(sym, low, high, body):

                def by_kernels() -> list[k.Statement]:
                    return [*self.known((low, high)), lp.For(sym, low, high, self.inner(body), parallel=False)]

                return loop_in_block(self, stmt, by_kernels) if self.reassociate and self.depth == 0 else by_kernels()
            case lp.Chunks():
                return self.chunks(stmt)
            case lp.Accumulate():
                return self.accumulate(stmt)
            case lp.If(tests, then, orelse):
                out: list[k.Statement] = []
                made = self.tests(tests, out)
                return [*out, lp.If(made, self.inner(then), self.inner(orelse))]
            case lp.Forever(body):
                return [lp.Forever(self.inner(body))]
            case lp.BreakUnless(tests):
                out = []
                made = self.tests(tests, out)
                return [*out, lp.BreakUnless(made)]
            case lp.Helper("settle", buffers):
                return [*(s for b, _ in buffers for s in self.known(b.extents)), stmt]
            case lp.Helper("argsort" | "sort"):
                return self.sort(stmt)
            case lp.Product() if has_kernel(stmt):
                return [*matrix_product(self, stmt), *self.stmts(stmt.after)]
            case lp.Product():
                return self.stmts([*stmt.body, *stmt.after])
            case lp.Print(_, span):
                refuse("print", span)
            case lp.Section(_, body):
                return self.stmts(body)
        raise AssertionError(type(stmt).__name__)

    def tests(self, tests: tuple[lp.Test, ...], out: list[k.Statement]) -> tuple[lp.Test, ...]:
        """Tests that the host can make: what it does not know is computed by one thread and fetched."""
        if any(not self.is_host_op(t.expr) for t in tests if t.expr is not None):
            var = self.names.var("holds", I64)
            truth = lp.Truth(tests)
            out += self.one_thread([lp.Let(var, lp.Cast(truth, I64))])
            tests = (lp.Test("ne", poly(var.atom)),)
        out += self.known(tests)
        return tests

    def is_host_op(self, e: lp.Expr) -> bool:
        """The host can compute it once it has fetched its variables."""
        return all(_host_node(x) for x in lp.subexprs(e))

    # -- parallel work

    def parallel(self, stmts: lp.Stmts, env: dict[Any, Poly] | None = None) -> list[k.Statement]:
        """A nest of parallel loops: a thread for every point."""
        out: list[k.Statement] = []
        nest = points(stmts, env or {}, self.names)
        extents = tuple(self.extent(p, out) for p in nest.extents)
        return [*out, *self.at_points(nest, extents)]

    def chunks(self, chunk: lp.Chunks) -> list[k.Statement]:
        if chunk.accs:
            return self.reduce(chunk)
        out: list[k.Statement] = []
        if rows_of_product(chunk):  # its rows are the indices of the pieces: all at once
            nest = points(chunk.body, {chunk.low: poly(0), chunk.high: chunk.extent}, self.names)
            extents = tuple(self.extent(p, out) for p in nest.extents)
            return [*out, *self.at_points(nest, extents)] if nest.syms else [*out, *self.stmt(nest.body[0])]
        i = self.names.sym(chunk.low.name.removesuffix("_lo"))
        nest = points(chunk.body, {chunk.low: poly(i), chunk.high: poly(i) + 1}, self.names, ((i, chunk.extent),))
        extents = tuple(self.extent(p, out) for p in nest.extents)
        return [*out, *self.at_points(nest, extents)]

    def at_points(self, nest: Nest, extents: tuple[Poly, ...]) -> list[k.Statement]:
        """A nest by threads, or by groups of them where there are loops inside."""
        if any(p.const() == 0 for p in extents):
            return []
        if not self.reassociate:
            return flat_kernel(self, nest, extents)
        if (each := batched(nest)) is not None:
            return matrix_product(self, each, nest, extents)
        nest = in_scalars(nest, self.names) or nest
        parts, arrays = segments(replace(nest, extents=extents), self.names)
        if len(parts) > 1:
            given = tuple(zip(nest.syms, nest.extents, strict=True))
            out: list[k.Statement] = [lp.Alloc(b) for b in arrays]
            for part in parts:
                own = points(part, nest.env, self.names, given)
                out += self.at_points(own, (*extents, *(self.extent(p, out) for p in own.extents[len(extents) :])))
            return [*out, *(lp.Free(b) for b in arrays)]
        sums = find_sums(nest, self.host)
        if sums is not None:
            return sum_kernels(self, nest, extents, sums, lambda: self.by_groups(nest, extents))
        return self.by_groups(nest, extents)

    def by_groups(self, nest: Nest, extents: tuple[Poly, ...]) -> list[k.Statement]:
        """A nest by threads, warps or blocks."""

        def flat() -> list[k.Statement]:
            return flat_kernel(self, nest, extents)

        if is_wide(nest.body, nest.env):
            return by_size(self, nest, extents, flat, lambda lanes: group_kernel(self, nest, extents, lanes))
        wide = tried.spread(nest)
        if wide is None or not is_wide(wide.body, wide.env, checks=True):
            return flat()
        failed = tried.failure(self)
        return by_size(self, wide, extents, flat, lambda lanes: group_kernel(self, wide, extents, lanes, failed), lambda: tried.once_more(self, failed, nest, extents))

    def by_warps(self, nest: Nest, extents: tuple[Poly, ...]) -> list[k.Statement]:
        return group_kernel(self, nest, extents, k.WARP)

    def reduce(self, chunk: lp.Chunks) -> list[k.Statement]:
        out: list[k.Statement] = []
        extent = self.extent(chunk.extent, out)
        i = self.names.sym("i")
        return [*out, *reduction(self, chunk.accs, chunk.body, {chunk.low: poly(i), chunk.high: poly(i) + 1}, i, extent)]

    def accumulate(self, loop: lp.Accumulate) -> list[k.Statement]:
        if loop.exact or not self.reassociate or not reducible(loop):
            return self.one_thread([loop])
        out: list[k.Statement] = []
        extent = self.extent(loop.high - loop.low, out)
        i = self.names.sym(loop.sym.name)
        return [*out, *reduction(self, loop.accs, loop.body, {loop.sym: loop.low + poly(i)}, i, extent)]

    def sort(self, h: lp.Helper, most: Poly | None = None) -> list[k.Statement]:
        """Long arrays by digits, short ones by merging. `most`: keys are from 0 to that."""
        keys = h.buffers[0][0]
        out: list[k.Statement] = []
        n = self.extent(h.sizes[0], out)
        if keys.dtype.is_complex:
            refuse("a sort of complex numbers", keys.span)
        if not has_digits(keys.dtype):
            return [*out, *self.merged(h, n)]
        return [*out, lp.If((lp.Test("ge", n - radix.LEAST),), self.by_digits(h, n, most), self.merged(h, n))]  # type: ignore[arg-type]

    def each(self, n: Poly, body: Any) -> list[k.Statement]:
        p = self.names.sym("p")
        return self.parallel([lp.For(p, poly(0), n, body(poly(p)), parallel=True)])

    def by_digits(self, h: lp.Helper, n: Poly, most: Poly | None) -> list[k.Statement]:
        (keys, first), (to, at) = h.buffers
        r = Radix(self, keys.dtype, n, h.name == "argsort")
        out: list[k.Statement] = [*r.first, *(lp.Alloc(b) for b in r.buffers)]

        def start(p: Poly) -> list[lp.Stmt]:
            found: list[lp.Stmt] = [lp.Store(r.keys, (p,), lp.Load(keys, (*first[:-1], first[-1] + p)))]
            return [*found, lp.Store(r.places, (p,), lp.Index(p))] if r.places is not None else found

        out += [*self.each(n, start), *r.passes(most)]
        out += self.each(n, lambda p: [lp.Store(to, (*at[:-1], at[-1] + p), lp.Load(r.places if r.places is not None else r.keys, (p,)))])
        return [*out, *(lp.Free(b) for b in r.buffers)]

    def merged(self, h: lp.Helper, n: Poly) -> list[k.Statement]:
        (keys, first), (to, at) = h.buffers
        s = Sorting(self.names, keys, first, n)
        out: list[k.Statement] = [lp.Alloc(s.order), lp.Alloc(s.merged)]
        out += self.each(n, lambda p: [lp.Store(s.order, (p,), lp.Index(p))])
        width = self.names.var("width", I64, True)
        self.host.add(width)
        rounds: list[lp.Stmt] = [lp.BreakUnless((lp.Test("ge", n - poly(width.atom) - 1),))]
        rounds += self.each(n, lambda p: s.place(p, poly(width.atom)))  # type: ignore[arg-type]
        rounds += [lp.Swap(s.order, s.merged), lp.Assign(width, lp.Index(2 * poly(width.atom)))]
        out += [lp.Declare(width, lp.Const(1, I64)), lp.Forever(rounds)]
        out += self.each(n, lambda p: s.result(h.name, p, to, at))
        return [*out, lp.Free(s.order), lp.Free(s.merged)]


def _declared_in_order(stmts: lp.Stmts) -> list[lp.Var]:
    found: list[lp.Var] = []
    for s in stmts:
        if isinstance(s, (lp.Let, lp.Declare)):
            found.append(s.var)
        elif isinstance(s, lp.Accumulate):
            found += [a.var for a in s.accs]
    return found


def spreads(stmt: lp.Stmt) -> bool:
    """There is work for many threads in it, or something that only the host can do."""
    for s in lp.walk([stmt]):
        if isinstance(s, _SPREADS):
            return True
        if isinstance(s, lp.Print):
            refuse("print", s.span)
        if isinstance(s, lp.For) and s.parallel:
            rounds = (s.high - s.low).const()
            if rounds is None or rounds > FEW:
                return True
        if isinstance(s, lp.Accumulate) and s is stmt and reducible(s) and not s.exact:
            rounds = (s.high - s.low).const()
            if rounds is None or rounds > FEW:
                return True
    return False


def _read(stmts: list[lp.Stmt]) -> set[lp.Var]:
    return {v for s in stmts for v in lp.used_vars(s)}


def _is_long(loop: lp.For) -> bool:
    rounds = (loop.high - loop.low).const()
    return rounds is None or rounds > FEW


# -- what the host computes itself


def _host_node(x: lp.Expr) -> bool:
    """An operation that the host does with the same bits."""
    if isinstance(x, lp.Load):
        return False
    if isinstance(x, lp.Call):
        whole = all(_is_whole(a.dtype) for a in x.args)
        return x.op in _ON_HOST if whole else x.op in _ON_HOST_FLOATS and all(a.dtype in (F32, F64) for a in x.args)
    if isinstance(x, lp.Cast):
        return _host_type(x.dtype) and (_is_whole(x.arg.dtype) or not _is_whole(x.dtype))
    return _host_type(x.dtype)


def _is_whole(dtype: DType) -> bool:
    return dtype.is_integer or dtype.kind == "b"


def _host_type(dtype: DType) -> bool:
    return _is_whole(dtype) or dtype in (F32, F64)


def is_host_value(x: Any, known: set[lp.Var]) -> bool:
    """Made of sizes, indices and variables that the host knows, by integer operations."""
    if isinstance(x, (tuple, list)):
        return all(is_host_value(item, known) for item in x)
    if isinstance(x, Poly):
        return all(v in known for v in lp.used_vars(x))
    if isinstance(x, lp.Test):
        return (x.poly is None or is_host_value(x.poly, known)) and (x.expr is None or is_host_value(x.expr, known))
    if x is None:
        return True
    for e in lp.subexprs(x):
        if not _host_node(e):
            return False
        if isinstance(e, lp.Use) and e.var not in known:
            return False
        if isinstance(e, lp.Index) and not is_host_value(e.poly, known):
            return False
        if isinstance(e, (lp.Choose, lp.Truth)) and not is_host_value(tuple(t.poly for t in e.tests), known):
            return False
    return True


def _host_variables(fn: lp.Function) -> set[lp.Var]:
    """Variables that the host computes: arguments, and what is made of them by statements that run on the host."""
    known = {p for p in fn.inputs if isinstance(p, lp.Var)}
    sets: dict[lp.Var, list[Any]] = {}
    tests: list[tuple[Any, list[lp.Var]]] = []  # of choices, and what is set under them
    elsewhere: set[lp.Var] = set()

    def visit(stmts: lp.Stmts) -> None:
        for s in stmts:
            match s:
                case lp.Let(var, value) | lp.Declare(var, value) | lp.Assign(var, value):
                    sets.setdefault(var, []).append(value)
                case lp.If() if all(isinstance(x, (lp.Let, lp.Declare, lp.Assign, lp.Check, lp.If, lp.Note)) for x in lp.walk([s])):
                    tests.append((s.tests, [x.var for x in lp.walk([s]) if isinstance(x, (lp.Let, lp.Declare, lp.Assign))]))
                    for body in lp.bodies(s):
                        visit(body)
                case lp.For(parallel=False) | lp.If() | lp.Forever() | lp.Section() | lp.Product() if spreads(s):
                    for body in lp.bodies(s):
                        visit(body)
                case lp.Add(var, _, _):
                    elsewhere.add(var)
                case _:
                    for inner in lp.walk([s]):
                        if isinstance(inner, (lp.Assign, lp.Add, lp.Let, lp.Declare)):
                            elsewhere.add(inner.var)

    visit(fn.body)
    candidates = {v for v in sets if v not in elsewhere and _host_type(v.dtype)}
    while True:
        good = {v for v in candidates if all(value is None or is_host_value(value, known | candidates) for value in sets[v])}
        good -= {v for test, vs in tests if not is_host_value(test, known | candidates) for v in vs}
        if good == candidates:
            return known | good
        candidates = good


__all__ = ["MONOIDS", "Made", "replace", "to_kernels"]
