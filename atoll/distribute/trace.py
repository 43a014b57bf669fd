"""From the loops of a program, at sizes that are numbers, to a graph of tasks.

The statements of the function itself are gone through in order, as the program would: what depends on sizes only (which way to sum, how many
rounds) is decided here, loops with pieces inside are written out round by round, and what is left becomes tasks:

    pieces of a loop      several tasks, each with some of the pieces; partial sums are combined by one more task, in the tree of one machine
    a matrix product      several tasks, each with some of the rows; or one after the other, each with some blocks of what is summed over
    anything else         one task

The tasks themselves are made in tasks.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

from atoll.distribute import ranges
from atoll.distribute.arguments import words_of
from atoll.distribute.blocks import apart
from atoll.distribute.footprint import Touched, bytes_of_touched, shape_of_box, touched, whole
from atoll.distribute.graph import Block, Graph, Source, Value, Version
from atoll.distribute.pieces import grouped, is_free, units
from atoll.distribute.products import product
from atoll.distribute.tasks import Settings, Tasks, refuse, set_by
from atoll.distribute.tiles import tiled
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly

T = TypeVar("T")

ROUNDS = 4096  # of a loop whose parts are written out

@dataclass
class Tracer(Tasks):
    pending: list[lp.Stmt] = field(default_factory=list)
    again: dict[tuple[str, int], Any] = field(default_factory=dict)

    def graph(self) -> Graph:
        for k, (leaf, given) in enumerate(zip(self.fn.inputs, self.inputs, strict=True)):
            if isinstance(leaf, lp.Var):
                self.vars[leaf] = Value(self.scalars[k]) if k in self.scalars else Source("input", k)
                if k in self.scalars and leaf.dtype.is_integer:
                    self.known[leaf] = int(self.scalars[k])
            else:
                self.shapes[leaf] = given.shape
                self.versions[leaf] = Version(given.shape, given.dtype, (Block(whole(given.shape), Source("input", k), (0,) * len(given.shape)),))
        for out in self.fn.outputs:
            if not any(isinstance(s, lp.Alloc) and s.buffer is out.buffer for s in lp.walk(self.fn.body)):
                self.alloc(out.buffer)
        self.stmts(self.fn.body)
        self.flush()
        results = []
        for out in self.fn.outputs:
            version = self.versions.get(out.buffer)
            if version is None:
                self.versions[out.buffer] = version = Version(self.shapes[out.buffer], out.buffer.dtype.numpy, ())
            results.append(version)
        sizes = {s.name: self.known[s] for s in self.fn.sizes}
        return Graph(self.fn.name, sizes, self.inputs, tuple(self.kernels), tuple(self.tasks), tuple(self.steps), tuple(results))

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> None:
        for s in stmts:
            self.stmt(s)

    def stmt(self, s: lp.Stmt) -> None:
        match s:
            case lp.Note() | lp.Free():
                return
            case lp.Helper(name="fence" | "settle"):
                return
            case lp.Alloc(b):
                self.flush()
                self.alloc(b)
            case lp.Section(_, body):
                self.stmts(body)
            case lp.Let(var, value) | lp.Declare(var, value) | lp.Assign(var, value) if value is not None and self.constant(value) is not None:
                self.flush()
                found = self.constant(value)
                self.vars[var] = Value(found)
                if var.dtype.is_integer and found is not None:
                    self.known[var] = int(found)
            case lp.If(tests, then, orelse):
                known = ranges.decided(tests, self.env)
                if known is None:
                    self.glue(s)
                else:
                    self.stmts(then if known else orelse)
            case lp.Chunks() if self.number(s.extent) is not None and self.big(s):
                self.flush()
                self.chunks(s)
            case lp.Product():
                self.flush()
                self.product(s)
            case lp.For():
                self.loop(s)
            case lp.Swap(a, b):
                self.flush()
                self.versions[a], self.versions[b] = self.versions[b], self.versions[a]
            case lp.CopyBuffer(target, source):
                self.flush()
                self.versions[target] = self.versions[source]
            case lp.Print():
                refuse(self.fn.name, s.span, "it prints, and what is printed by several workers has no order", "return the value instead of printing it")
            case _:
                self.glue(s)

    def constant(self, value: lp.Expr) -> Any:
        """A literal, or the value of an integer expression that depends on sizes only."""
        if isinstance(value, lp.Const):
            return value.value
        found = ranges.of_expr(value, self.env)
        return found[0] if found is not None and found[0] == found[1] else None

    def loop(self, s: lp.For) -> None:
        low, high = self.number(s.low), self.number(s.high)
        inside = [x for x in lp.walk(s.body) if isinstance(x, (lp.Chunks, lp.Product, lp.Swap))]
        swaps = any(isinstance(x, lp.Swap) for x in inside)
        if low is not None and high is not None and (swaps or self.big(s)) and (high - low <= ROUNDS or not inside):
            self.flush()
            if inside:
                for i in range(low, high):
                    self.known[s.sym] = i
                    self.stmts(s.body)
                    self.flush()
                self.known.pop(s.sym, None)
            elif s.parallel:
                self.chunks(self.once("parts", s, lambda: _as_chunks(s)))
            elif self.settings.in_order and not s.scan:
                self.in_order(s, low, high)
            else:
                self.glue(s)
            return
        if swaps:
            refuse(self.fn.name, self.span([s]), f"it goes through more than {ROUNDS} rounds", "write one round as a function and repeat it with at.mpi.loop")
        self.glue(s)

    def big(self, s: lp.Stmt) -> bool:
        """A loop that reads or writes so much that it is worth parts."""
        return bytes_of_touched(touched([s], self.shapes, self.env)) > self.settings.least

    def in_order(self, s: lp.For, low: int, high: int) -> None:
        """A loop in order in stretches, one task after the other."""
        wanted = max(self.settings.parts, -(-bytes_of_touched(touched([s], self.shapes, self.env)) // self.settings.task))
        count = max(1, min(wanted, high - low))
        first, last = self.once("bounds", s, lambda: (Sym(f"{s.sym.name}_from"), Sym(f"{s.sym.name}_to")))
        part = self.once("stretch", s, lambda: lp.For(s.sym, poly(first), poly(last), s.body, s.parallel, s.vector, s.unroll, s.scan))
        for k in range(count):
            self.known[first], self.known[last] = low + (high - low) * k // count, low + (high - low) * (k + 1) // count
            self.glue(part)
            self.flush("in order")

    def once(self, what: str, s: lp.Stmt, make: Callable[[], T]) -> T:
        """What is made of a statement the first time it is met; rounds of a loop meet it again, and their kernels are then the same."""
        key = (what, id(s))
        if key not in self.again:
            self.again[key] = make()
            self.keep.append(s)
        return self.again[key]  # type: ignore[no-any-return]

    # -- one task

    def glue(self, s: lp.Stmt) -> None:
        """Put off. What it sets is not known from here on: a test that comes next must not be decided by the value from before."""
        self.pending.append(s)
        for v in set_by([s]):
            self.known.pop(v, None)

    def flush(self, kind: str = "one") -> None:
        """What was put off becomes one task."""
        if not self.pending:
            return
        body, self.pending = self.pending, []
        for s in lp.walk(body):
            if isinstance(s, lp.Swap):
                refuse(self.fn.name, self.span(body), "arrays change places in rounds whose number is not known", "write one round as a function and repeat it with at.mpi.loop")
            if isinstance(s, lp.Print):
                refuse(self.fn.name, s.span, "it prints, and what is printed by several workers has no order", "return the value instead of printing it")
        found = touched(body, self.shapes, self.env)
        self.refuse_gathering(body, found)
        changed = [v for v in set_by(body) if v in self.vars or _used_outside(v, body, self.fn)]
        self.emit(body, [(found, ())], kind, values=changed)

    def refuse_gathering(self, body: lp.Stmts, found: Touched) -> None:
        """What needs everything in one place. What the rows of a loop do by themselves, each for itself, does not."""
        for s in _outside_pieces(body):
            exact = isinstance(s, lp.Accumulate) and s.exact and self.is_cut_anywhere(found)
            sorts = isinstance(s, lp.Helper) and s.name in ("sort", "argsort") and self.is_cut_anywhere(found)
            if exact and not self.settings.in_order:
                refuse(self.fn.name, self.span(body), "it adds up from left to right, so no worker can begin before the last has ended", "let sums be regrouped: leave out reassociate=False, or bits=\"portable\"")
            if sorts and not self.settings.in_order:
                refuse(self.fn.name, self.span(body), "it sorts along the axis that is cut, which needs everything in one place", "sort the rows of an array instead, or gather it first: x.compute()")
        total = sum(prod(shape_of_box(box)) * b.dtype.size for b, box in found.reads.items())
        if total > self.settings.gathers:
            largest = max(found.reads, key=lambda b: prod(shape_of_box(found.reads[b])) * b.dtype.size)
            text = f"all of {largest.shown} is needed in one place, {words_of(total)}"
            refuse(self.fn.name, self.span(body), text, "reduce it by a known operator (sum, min, max, hist), or give a larger memory=")

    def is_cut_anywhere(self, found: Touched) -> bool:
        return any(any(high - low > 1 for low, high in box) for box in found.reads.values())

    # -- several tasks

    def chunks(self, s: lp.Chunks) -> None:
        extent, work = self.number(s.extent), self.number(s.work) if s.work.terms else 1
        assert extent is not None
        if extent <= 0:
            return
        found = self.parts_of(s, extent, 1 if work is None else work)
        exact = any(isinstance(x, lp.Accumulate) and x.exact and x.low.leaves() & {s.low} for x in lp.walk(s.body))
        if exact and not self.settings.in_order and extent > 1:
            refuse(self.fn.name, self.span(s.body), "it adds up from left to right, so no worker can begin before the last has ended", "let sums be regrouped: leave out reassociate=False, or bits=\"portable\"")
        if tiled(self, s, extent, 1 if work is None else work, sum(bytes_of_touched(t) for t, _ in found)):
            return
        axis = lp.in_words(s.extent)
        most = max(bytes_of_touched(t) for t, _ in found)
        if most > self.settings.task and not s.accs and _stretches(s.body):
            self.open_up(s, [p for _, ps in found for p in ps])
            return
        sums = self.emit(s.body, found, "parts", s, axis=axis)
        for acc, sources in zip(s.accs, sums, strict=True):
            self.combine(acc, sources, s.most, self.span(s.body))

    def parts_of(self, s: lp.Chunks, extent: int, work: int) -> list[tuple[Touched, tuple[tuple[int, int], ...]]]:
        """The pieces of every task, and what they touch."""
        env = self.env

        def look(pieces: list[tuple[int, int]]) -> Touched:
            found = Touched()
            for low, high in pieces:
                env[s.low], env[s.high] = (low, low), (high, high)
                found.join(touched(s.body, self.shapes, env))
            return found

        cuts = units(s, extent, work)
        wanted = self.settings.parts if self.is_over(s.extent) else 1
        groups = grouped(cuts, max(1, min(wanted, len(cuts))))
        if not s.accs and len(cuts) > 4 * len(groups) and is_free(s):
            groups = [[(g[0][0], g[-1][1])] for g in groups]
        found = [(look(g), tuple(g)) for g in groups]
        if len(found) > 1 and (not apart(self.shapes, [t for t, _ in found]) or self.little(found)):
            pieces = [p for _, ps in found for p in ps]
            merged = Touched()
            for t, _ in found:
                merged.join(t)
            return [(merged, tuple(pieces))]
        return found

    def is_over(self, extent: Poly) -> bool:
        """Is this the size that is to be cut? Parts of something count as it."""
        if self.settings.over is None or extent.const() is not None:
            return True
        return any((isinstance(a, Sym) and a.name == self.settings.over) or isinstance(a, lp.VarAtom) for a in extent.leaves())

    def little(self, found: list[tuple[Touched, tuple[tuple[int, int], ...]]]) -> bool:
        return sum(bytes_of_touched(t) for t, _ in found) < self.settings.least

    # -- parts of loops in order

    def open_up(self, s: lp.Chunks, pieces: list[tuple[int, int]]) -> None:
        """Pieces that are too much for one task, and go through something in order: each becomes tasks one after the other."""
        for low, high in pieces:
            self.known[s.low], self.known[s.high] = low, high
            self.opened(s.body)
            self.flush("in order")

    def opened(self, stmts: lp.Stmts) -> None:
        for s in stmts:
            if not isinstance(s, lp.For):
                self.stmt(s)
                continue
            low, high = self.number(s.low), self.number(s.high)
            if low is None or high is None or bytes_of_touched(touched([s], self.shapes, self.env)) <= self.settings.task:
                self.glue(s)
            elif high - low <= 64 and _stretches(s.body):
                for i in range(low, high):
                    self.known[s.sym] = i
                    self.opened(s.body)
                    self.flush("in order")
                self.known.pop(s.sym)
            elif not s.scan:
                self.flush("in order")
                self.in_order(s, low, high)
            else:
                self.glue(s)

    def product(self, p: lp.Product) -> None:
        product(self, p)

def _stretches(body: lp.Stmts) -> bool:
    """Is there a loop in order, of which parts can be done one after the other?"""
    return any(isinstance(s, lp.For) and not s.parallel and not s.scan for s in lp.walk(body))


def _as_chunks(s: lp.For) -> lp.Chunks:
    """Rounds that are independent, in parts."""
    low, high = Sym(f"{s.sym.name}_lo"), Sym(f"{s.sym.name}_hi")
    one = lp.For(s.sym, s.low + low, s.low + high, s.body, True, s.vector, s.unroll, s.scan)
    return lp.Chunks(low, high, s.high - s.low, Poly({}), [one])


def _outside_pieces(body: lp.Stmts) -> Iterator[lp.Stmt]:
    """Statements that no loop over independent rounds is around."""
    for s in body:
        yield s
        if not isinstance(s, lp.Chunks) and not (isinstance(s, lp.For) and s.parallel):
            for inner in lp.bodies(s):
                yield from _outside_pieces(inner)


def _used_outside(v: lp.Var, body: lp.Stmts, fn: lp.Function) -> bool:
    return sum(x is v for x in lp.used_vars(fn.body)) > sum(x is v for x in lp.used_vars(body))


__all__ = ["Settings", "Tracer", "refuse", "whole"]
