"""What loops touch: for every array a box around all that is read and one around all that is written, at sizes that are numbers.

Boxes err to the large side and are cut off at the array's own extents, since no loop reads or writes outside them. An index that is data
can be anything, so its axis is needed whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from atoll.distribute import ranges
from atoll.distribute.ranges import Interval
from atoll.loops import ir as lp
from atoll.sizes import Poly

Box = tuple[tuple[int, int], ...]  # per axis: first, and one past the last

UNKNOWN = 1 << 50  # an extent that only running tells
PACKED = 24 << 20  # bytes that a product packs at a time, at most
FEW = 8  # rounds of an outer loop that are looked at one by one: what is computed from its index is then a number


@dataclass
class Touched:
    """Boxes by array, and the most bytes that were allocated at the same time."""

    reads: dict[lp.Buffer, Box] = field(default_factory=dict)
    writes: dict[lp.Buffer, Box] = field(default_factory=dict)
    bytes: int = 0
    undecided: dict[lp.Buffer, None] = field(default_factory=dict)  # allocated, as large as only running tells

    def join(self, other: Touched) -> None:
        self.bytes = max(self.bytes, other.bytes)
        self.undecided.update(other.undecided)
        for mine, theirs in ((self.reads, other.reads), (self.writes, other.writes)):
            for buffer, box in theirs.items():
                mine[buffer] = around(mine.get(buffer), box)

    @property
    def buffers(self) -> list[lp.Buffer]:
        return list(dict.fromkeys([*self.reads, *self.writes]))


def around(a: Box | None, b: Box) -> Box:
    """The least box around both."""
    if a is None or is_empty(a):
        return b
    if is_empty(b):
        return a
    return tuple((min(x[0], y[0]), max(x[1], y[1])) for x, y in zip(a, b, strict=True))


def is_empty(box: Box) -> bool:
    return any(low >= high for low, high in box)


def whole(shape: tuple[int, ...]) -> Box:
    return tuple((0, n) for n in shape)


def shape_of_box(box: Box) -> tuple[int, ...]:
    return tuple(max(0, high - low) for low, high in box)


def assigned(stmts: lp.Stmts) -> set[lp.Var]:
    """Variables that change, so that their first value says nothing."""
    found = {s.var for s in lp.walk(stmts) if isinstance(s, (lp.Assign, lp.Add))}
    return found | {s.result for s in lp.walk(stmts) if isinstance(s, lp.Helper) and s.result is not None}


class Looker:
    """Walks statements with an interval for every index and integer variable."""

    def __init__(self, shapes: dict[lp.Buffer, tuple[int, ...]], env: dict[Any, Interval], stmts: lp.Stmts, threads: int = 1) -> None:
        self.shapes = shapes
        self.env = dict(env)
        self.touched = Touched()
        self.changing = assigned(stmts)
        for var in self.changing:
            self.env.pop(var, None)
        self.own = {s.buffer for s in lp.walk(stmts) if isinstance(s, lp.Alloc)}
        self.rounds_left = 64  # outer rounds that are looked at one by one, all together
        self.live: dict[lp.Buffer, int] = {}  # bytes of what is allocated
        self.threads = threads
        self.times = 1  # how many threads may have their own of it

    def value(self, var: lp.Var, value: lp.Expr) -> Interval:
        """What is known of a variable; of a float a number that is about it."""
        if not var.dtype.is_float:
            return ranges.of_expr(value, self.env)
        found = ranges.about(value, self.env)
        return None if found is None else (found, found)  # type: ignore[return-value]

    # -- places

    def box(self, buffer: lp.Buffer, index: tuple[Poly, ...], along: Poly | None = None) -> Box:
        """Around the elements at an index; `along` elements on the last axis."""
        found: list[tuple[int, int]] = []
        for axis, (p, n) in enumerate(zip(index, self.shapes[buffer], strict=True)):
            at = ranges.of_poly(p, self.env)
            if at is not None and along is not None and axis == len(index) - 1:
                more = ranges.of_poly(along, self.env)
                at = None if more is None else (at[0], at[1] + more[1] - 1)
            found.append((0, n) if at is None else (max(0, at[0]), min(n, at[1] + 1)))
        return tuple(found)

    def read(self, buffer: lp.Buffer, box: Box) -> None:
        self.touched.reads[buffer] = around(self.touched.reads.get(buffer), box)

    def write(self, buffer: lp.Buffer, box: Box) -> None:
        self.touched.writes[buffer] = around(self.touched.writes.get(buffer), box)

    def outside(self, buffer: lp.Buffer) -> bool:
        return buffer not in self.own and buffer.kind != "const"

    # -- expressions

    def expr(self, e: lp.Expr) -> None:
        match e:
            case lp.Load(buffer, index):
                if self.outside(buffer):
                    self.read(buffer, self.box(buffer, index))
            case lp.Call(_, args, _):
                for a in args:
                    self.expr(a)
            case lp.Cast(arg, _):
                self.expr(arg)
            case lp.Choose(tests, then, orelse):
                self.tests(tests)
                known = ranges.decided(tests, self.env)
                if known is not False:
                    self.expr(then)
                if known is not True:
                    self.expr(orelse)
            case lp.Truth(tests):
                self.tests(tests)

    def tests(self, tests: tuple[lp.Test, ...]) -> None:
        for t in tests:
            if t.expr is not None:
                self.expr(t.expr)

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> None:
        for s in stmts:
            self.stmt(s)

    def stmt(self, s: lp.Stmt) -> None:
        match s:
            case lp.Let(var, value) | lp.Declare(var, value):
                if value is not None:
                    self.expr(value)
                    if var not in self.changing:
                        self.env[var] = self.value(var, value)
            case lp.Assign(_, value) | lp.Add(_, _, value):
                self.expr(value)
            case lp.Store(buffer, index, value):
                self.expr(value)
                if self.outside(buffer):
                    self.write(buffer, self.box(buffer, index))
            case lp.Update(buffer, index, _, value):
                self.expr(value)
                if self.outside(buffer):
                    box = self.box(buffer, index)
                    self.read(buffer, box)
                    self.write(buffer, box)
            case lp.For(sym, low, high, body) | lp.Accumulate(sym, low, high, body):
                self.loop(sym, ranges.of_poly(low, self.env), ranges.of_poly(high, self.env), body)
            case lp.Chunks():
                top = ranges.of_poly(s.extent, self.env)
                if top is None or top[1] > 0:
                    self.env[s.low] = None if top is None else (0, top[1])
                    self.env[s.high] = None if top is None else (0, top[1])
                    before, self.times = self.times, self.threads
                    self.stmts(s.body)
                    self.times = before
            case lp.Alloc(b):
                if not b.local:
                    self.hold(b)
            case lp.Free(b):
                self.live.pop(b, None)
            case lp.If(tests, then, orelse):
                self.tests(tests)
                known = ranges.decided(tests, self.env)
                if known is not False:
                    self.stmts(then)
                if known is not True:
                    self.stmts(orelse)
            case lp.Forever(body) | lp.Section(_, body):
                self.stmts(body)
            case lp.BreakUnless(tests):
                self.tests(tests)
            case lp.Check(tests, _, args):
                self.tests(tests)
                for a in args:
                    self.expr(a)
            case lp.Helper():
                self.helper(s)
            case lp.CopyBuffer(target, source):
                if self.outside(source):
                    self.read(source, whole(self.shapes[source]))
                if self.outside(target):
                    self.write(target, whole(self.shapes[target]))
            case lp.Swap(first, second):
                for b in (first, second):
                    if self.outside(b):
                        self.read(b, whole(self.shapes[b]))
                        self.write(b, whole(self.shapes[b]))
            case lp.Print(parts):
                for part in parts:
                    for shown in () if isinstance(part, str) else part[1]:
                        if not isinstance(shown, lp.Buffer):
                            self.expr(shown)
                        elif self.outside(shown):
                            self.read(shown, whole(self.shapes[shown]))
            case lp.Product():
                self.also(packed(s, self.env))
                self.stmts(s.body)
                self.stmts(s.after)

    # -- memory

    def hold(self, b: lp.Buffer) -> None:
        count, undecided = b.dtype.size, False
        for axis, p in enumerate(b.extents):
            n = ranges.of_poly(p, self.env)
            known = b.rows if axis == 0 and b.rows is not None else None if n is None else max(0, n[1])
            count *= UNKNOWN if known is None else known
            undecided = undecided or known is None
        if undecided and count:
            self.touched.undecided[b] = None
        self.live[b] = max(self.live.get(b, 0), count * self.times)
        self.also(0)

    def also(self, more: int) -> None:
        """What is allocated now, and `more` for a moment."""
        self.touched.bytes = max(self.touched.bytes, sum(self.live.values()) + more * self.times)

    def loop(self, sym: Any, low: Interval, high: Interval, body: lp.Stmts) -> None:
        if low is not None and high is not None and high[1] <= low[0]:
            return
        if low is None or high is None:
            self.env[sym] = None
            self.stmts(body)
            return
        rounds = high[1] - low[0]
        depends = any(isinstance(s, (lp.Let, lp.For, lp.Accumulate)) for s in body)
        if rounds <= FEW and rounds <= self.rounds_left and depends and low[0] == low[1] and high[0] == high[1]:
            self.rounds_left -= rounds
            for i in range(low[0], high[1]):
                self.env[sym] = (i, i)
                self.stmts(body)
        else:
            self.env[sym] = (low[0], high[1] - 1)
            self.stmts(body)

    def helper(self, h: lp.Helper) -> None:
        match h.name:
            case "sort" | "argsort" | "stream" | "compress":
                if h.name.endswith("sort"):
                    n = ranges.of_poly(h.sizes[0], self.env)
                    self.also((UNKNOWN if n is None else max(0, n[1])) * 16)
                writes = 0 if h.name == "stream" else len(h.buffers) - 1
                for k, (buffer, at) in enumerate(h.buffers):
                    if self.outside(buffer):
                        box = self.box(buffer, at, h.sizes[0]) if at else whole(self.shapes[buffer])
                        if k == writes:
                            self.write(buffer, box)
                        else:
                            self.read(buffer, box)
            case "fence":
                pass
            case _:
                for buffer, _ in h.buffers:
                    if self.outside(buffer):
                        self.read(buffer, whole(self.shapes[buffer]))
                        self.write(buffer, whole(self.shapes[buffer]))


def packed(p: lp.Product, env: dict[Any, Interval]) -> int:
    """Bytes in which the matrix kernel lays out rows and columns, at most (runtime/native/product.c)."""
    sizes = [ranges.of_poly(x, env) for x in (p.rows, p.columns, *p.sums)]
    if any(n is None for n in sizes):
        return PACKED
    rows, columns, *sums = (max(0, n[1]) for n in sizes if n is not None)
    terms = prod(sums)
    return min(PACKED, (rows + columns + 64) * (terms + 64) * p.target.dtype.size + 16 * (terms if len(sums) > 1 else min(terms, 512)))


def touched(stmts: lp.Stmts, shapes: dict[lp.Buffer, tuple[int, ...]], env: dict[Any, Interval], threads: int = 1) -> Touched:
    """What statements read and write of the arrays that exist outside of them."""
    looker = Looker(shapes, env, stmts, threads)
    looker.stmts(stmts)
    return looker.touched


def bytes_of_touched(t: Touched) -> int:
    """Bytes of all boxes that are read or written."""
    return sum(prod(shape_of_box(box)) * b.dtype.size for boxes in (t.reads, t.writes) for b, box in boxes.items())


def arrays_made(body: lp.Stmts) -> list[lp.Buffer]:
    """Arrays that statements write, but for those they allocate."""
    own = {s.buffer for s in lp.walk(body) if isinstance(s, lp.Alloc)}
    return [s.buffer for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update)) and s.buffer not in own]
