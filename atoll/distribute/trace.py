"""From the loops of a program, at sizes that are numbers, to a graph of tasks.

The statements of the function itself are gone through in order, as the program would: what depends on sizes only (which way to sum, how many
rounds) is decided here, loops with pieces inside are written out round by round, and what is left becomes tasks:

    pieces of a loop      several tasks, each with some of the pieces; partial sums are combined by one more task, in the tree of one machine
    a matrix product      several tasks, each with some of the rows; or one after the other, each with some blocks of what is summed over
    anything else         one task

Every array is a version that tasks make blocks of, so tasks that do not need each other may run at the same time, and nothing is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NoReturn, TypeVar

from atoll.backends.c.used import collect, written_buffers
from atoll.distribute import ranges
from atoll.distribute.arguments import words_of
from atoll.distribute.blocks import apart, axes_of, given_box
from atoll.distribute.footprint import (
    Box,
    Touched,
    around,
    arrays_made,
    assigned,
    bytes_of_touched,
    is_empty,
    shape_of_box,
    touched,
    whole,
)
from atoll.distribute.graph import Block, Given, Graph, Out, Read, Source, Step, Task, Use, Value, Version
from atoll.distribute.kernel import Kernel, Local, Made, tree
from atoll.distribute.pieces import grouped, is_free, units
from atoll.distribute.tiles import tiled
from atoll.errors import NOWHERE, Span, fail
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly

T = TypeVar("T")

ROUNDS = 4096  # of a loop whose parts are written out
SMALL = 1 << 26  # bytes that may be gathered in one place without being asked


@dataclass(frozen=True)
class Settings:
    """`parts`: tasks a step is cut into. `gathers`: bytes one place may hold of what is cut elsewhere; `memory`: bytes of any task."""

    parts: int
    gathers: int = SMALL
    memory: int | None = None
    in_order: bool = False  # may loops in order be cut into stretches, one after the other?
    task: int = 1 << 28  # bytes of a task beyond which its loops in order are cut into stretches
    least: int = 0  # bytes that are worth a task
    over: str | None = None  # the size that is to be cut
    grid: tuple[tuple[str, int], ...] = ()  # sizes that are cut at the same time, and into how many parts


@dataclass
class Tracer:
    fn: lp.Function
    inputs: tuple[Given, ...]
    scalars: dict[int, Any]  # leaves that are numbers, where they are known
    settings: Settings
    returned: Span  # where the function says what its result is
    known: dict[Any, int]  # sizes, loop indices, integer variables that depend on nothing else
    versions: dict[lp.Buffer, Version | None] = field(default_factory=dict)
    shapes: dict[lp.Buffer, tuple[int, ...]] = field(default_factory=dict)
    vars: dict[lp.Var, Source | Value] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    made: dict[Any, tuple[int, Made]] = field(default_factory=dict)
    pending: list[lp.Stmt] = field(default_factory=list)
    again: dict[tuple[str, int], Any] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)  # what keys speak of by identity

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

    # -- what is known

    @property
    def env(self) -> dict[Any, ranges.Interval]:
        return {x: (n, n) for x, n in self.known.items()}

    def number(self, p: Poly) -> int | None:
        return ranges.number(p, self.env)

    def alloc(self, b: lp.Buffer) -> None:
        shape = [self.number(p) for p in b.extents]
        if any(n is None for n in shape):
            refuse(self.fn.name, b.span, f"the size of {b.shown} is known only when it runs", "return arrays whose sizes follow from those of the arguments")
        self.shapes[b] = tuple(max(0, n or 0) for n in shape)
        self.versions[b] = None

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
        for v in _set_by([s]):
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
        changed = [v for v in _set_by(body) if v in self.vars or _used_outside(v, body, self.fn)]
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
        from atoll.distribute.products import product

        product(self, p)

    # -- tasks

    def emit(
        self, body: lp.Stmts, found: list[tuple[Touched, tuple[tuple[int, int], ...]]], kind: str, chunk: lp.Chunks | None = None, values: list[lp.Var] | None = None, axis: str = "",
        extra: list[dict[Sym, int]] | None = None, only_first: bool = False, tiles: list[dict[str, tuple[int, int]]] | None = None,
    ) -> list[list[Source]]:
        """Tasks for parts of the same statements; where their partial sums are, per accumulator."""
        values, accs = values or [], chunk.accs if chunk is not None else []
        step = len(self.steps)
        first = (chunk.low, chunk.high) if chunk is not None else ()
        everything = Touched()
        for t, _ in found:
            everything.join(t)
        boxes = self.boxes(found)
        mentioned = [b for b in collect(body, set()).buffers if b.kind != "const"]
        assigns = written_buffers(body) | set(everything.writes)
        written = [b for b in dict.fromkeys([*everything.writes, *mentioned]) if b in assigns]
        read = [b for b in dict.fromkeys([*everything.reads, *mentioned]) if b not in assigns]
        for box in boxes:  # arrays that are mentioned and never touched
            for b in (*read, *written):
                box.setdefault(b, tuple((0, 0) for _ in self.shapes[b]))
        cuts = {b: frozenset(a for a, n in enumerate(self.shapes[b]) if any(box[b][a] != (0, n) for box in boxes if b in box) and (a == 0 or not only_first)) for b in [*read, *written]}
        number, made = self.kernel(body, [Local(b, cuts[b]) for b in read], [Local(b, cuts[b]) for b in written], values, first, accs)
        sums: list[list[Source]] = [[] for _ in accs]
        blocks: dict[lp.Buffer, list[Block]] = {b: [] for b in written}
        axes = {b: self.axes(b, found) for b in written}
        tasks = []
        given: dict[lp.Var, Source] = {}
        for k, ((t, pieces), box) in enumerate(zip(found, boxes, strict=True)):
            at = len(self.tasks)
            local = {b: tuple(x if a in cuts[b] else (0, n) for a, (x, n) in enumerate(zip(box[b], self.shapes[b], strict=True))) for b in [*read, *written]}
            env = dict(self.known) if extra is None else {**self.known, **extra[k]}
            sizes = []
            for sym in made.sizes[len(first) :]:
                if sym in made.extents:
                    which, b, a = made.extents[sym]
                    sizes.append(local[b][a][1] - local[b][a][0] if which == "extent" else local[b][a][0])
                else:
                    sizes.append(env[sym])
            outs = []
            for b in written:
                outs.append(self.out(b, local[b], t.writes.get(b), axes[b], b in t.reads))
                mine = given_box(self.shapes[b], t.writes.get(b), axes[b])
                if mine is not None:
                    blocks[b].append(Block(mine, Source("task", at, len(outs) - 1), (0,) * len(mine)))
            scalars = tuple((v.dtype.numpy, self.scalar(v)) for v in made.vars)
            task = Task(at, step, number, tuple(sizes), pieces if chunk is not None else (), tuple(self.read(b, local[b]) for b in read), scalars, tuple(outs), tuple(a.var.dtype.numpy for a in accs), tuple(v.dtype.numpy for v in values), t.bytes)
            self.check_memory(task, body)
            self.tasks.append(task)
            tasks.append(at)
            for j in range(len(accs)):
                sums[j].append(Source("task", at, len(outs) + j))
            for j, v in enumerate(values):
                given[v] = Source("task", at, len(outs) + len(accs) + j)
        self.vars.update(given)
        uses = self.uses(body if chunk is None else chunk.body, read, written, found, boxes, cuts, tiles)
        self.steps.append(Step(step, self.words(body, chunk), kind if len(tasks) > 1 or kind == "in order" else "one", self.span(body).line, tuple(tasks), uses, axis))
        for b, new in blocks.items():
            before = self.versions.get(b) or Version(self.shapes[b], b.dtype.numpy, ())
            self.versions[b] = before.put(tuple(new))
        return sums

    def axes(self, b: lp.Buffer, found: list[tuple[Touched, tuple[tuple[int, int], ...]]]) -> tuple[int, ...]:
        return axes_of(self.shapes[b], [t.writes.get(b) for t, _ in found]) or ()

    def boxes(self, found: list[tuple[Touched, tuple[tuple[int, int], ...]]]) -> list[dict[lp.Buffer, Box]]:
        """What is at hand of every array, per task: all that is read; of what is written all of the other axes."""
        out = []
        all_writes = [b for t, _ in found for b in t.writes]
        axes = {b: self.axes(b, found) for b in dict.fromkeys(all_writes)}
        for t, _ in found:
            mine: dict[lp.Buffer, Box] = {}
            for b, box in t.reads.items():
                mine[b] = box if not is_empty(box) else tuple((0, 0) for _ in box)
            for b in axes:
                given = given_box(self.shapes[b], t.writes.get(b), axes[b])
                if given is not None:
                    mine[b] = around(mine.get(b), given) if self.shapes[b] else ()
                elif b not in mine:
                    mine[b] = tuple((0, 0) for _ in self.shapes[b])
            out.append(mine)
        return out

    def out(self, b: lp.Buffer, local: Box, written: Box | None, axes: tuple[int, ...], reads: bool) -> Out:
        version = self.versions.get(b)
        give = given_box(self.shapes[b], written, axes)
        relative = tuple((g[0] - at[0], g[1] - at[0]) for g, at in zip(give, local, strict=True)) if give is not None else tuple((0, 0) for _ in local)
        return Out(shape_of_box(local), b.dtype.numpy, relative, version.read(local) if version is not None and version.blocks else None)

    def read(self, b: lp.Buffer, box: Box) -> Read:
        version = self.versions.get(b) or Version(self.shapes[b], b.dtype.numpy, ())
        found = version.read(box)
        return replace(found, name=b.name, below=None if b.within is None else self.number(b.within)) if b.kind == "in" else found

    def scalar(self, v: lp.Var) -> Source | Value:
        if v in self.vars:
            return self.vars[v]
        if v in self.known:
            return Value(self.known[v])
        return Value(0)  # declared without a value

    def kernel(self, body: lp.Stmts, inputs: list[Local], outputs: list[Local], values: list[lp.Var], first: tuple[Sym, ...], accs: Sequence[lp.Acc]) -> tuple[int, Made]:
        key = (tuple(map(id, body)), tuple(inputs), tuple(outputs), tuple(values))
        if key not in self.made:
            name = f"{self.fn.name} part {len(self.kernels)}"
            made = Made(name, body, inputs, outputs, values, first, self.fn.consts, accs)
            same = next((k for k, old in enumerate(self.kernels) if old.text == made.kernel.text), None)
            self.keep.append(body)
            self.made[key] = (len(self.kernels) if same is None else same, made)
            if same is None:
                self.kernels.append(made.kernel)
        return self.made[key]

    def combine(self, acc: lp.Acc, parts: list[Source], most: int, span: Span) -> None:
        """Partial sums of all pieces, in the tree of one machine."""
        count = sum(len(self.tasks[s.number].pieces) for s in parts)
        key = ("tree", acc.monoid, acc.var.dtype)
        if key not in self.made:
            body, given = tree(acc, max(1, (most - 1).bit_length()))
            made = Made(f"{self.fn.name} sums", body, [Local(given, frozenset())], [], [acc.var], (), [], [])
            self.keep.append(body)
            self.made[key] = (len(self.kernels), made)
            self.kernels.append(made.kernel)
        number, made = self.made[key]
        at, low, blocks = len(self.tasks), 0, []
        for s in parts:
            n = len(self.tasks[s.number].pieces)
            blocks.append(Block(((low, low + n),), s, (0,)))
            low += n
        version = Version((count,), acc.var.dtype.numpy, tuple(blocks))
        sizes = tuple(count for _ in made.sizes)
        self.tasks.append(Task(at, len(self.steps), number, sizes, (), (version.read(((0, count),)),), (), (), (), (acc.var.dtype.numpy,)))
        self.steps.append(Step(len(self.steps), f"{acc.var.shown}: {count} partial results combined by {acc.monoid} in a tree", "sums", span.line, (at,), ()))
        self.vars[acc.var] = Source("task", at, 0)
        self.known.pop(acc.var, None)

    def check_memory(self, task: Task, body: lp.Stmts) -> None:
        if self.settings.memory is not None and task.bytes > self.settings.memory:
            text = f"one part of it needs {words_of(task.bytes)}, and {words_of(self.settings.memory)} are allowed"
            refuse(self.fn.name, self.span(body), text, "allow more memory, or cut the arrays into more parts")

    # -- words

    def span(self, body: lp.Stmts) -> Span:
        """A line for statements: that of an array they make, else that of the result."""
        return next((b.span for b in arrays_made(body) if b.span is not NOWHERE and b.span.line), self.returned)

    def words(self, body: lp.Stmts, chunk: lp.Chunks | None) -> str:
        found = arrays_made(body)
        names = ", ".join(dict.fromkeys(b.shown for b in found)) or ", ".join(dict.fromkeys(a.var.shown for a in (chunk.accs if chunk is not None else []))) or ", ".join(dict.fromkeys(v.shown for v in _set_by(body))) or "checks"
        return names

    def uses(self, body: lp.Stmts, read: list[lp.Buffer], written: list[lp.Buffer], found: list[tuple[Touched, tuple[tuple[int, int], ...]]], boxes: list[dict[lp.Buffer, Box]], cuts: dict[lp.Buffer, frozenset[int]], tiles: list[dict[str, tuple[int, int]]] | None) -> tuple[Use, ...]:
        from atoll.distribute.words import use

        return tuple(use(b, self.shapes[b], b in written, found, boxes, cuts[b], tiles, body, self.number) for b in [*read, *written])


def _stretches(body: lp.Stmts) -> bool:
    """Is there a loop in order, of which parts can be done one after the other?"""
    return any(isinstance(s, lp.For) and not s.parallel and not s.scan for s in lp.walk(body))


def _as_chunks(s: lp.For) -> lp.Chunks:
    """Rounds that are independent, in parts."""
    low, high = Sym(f"{s.sym.name}_lo"), Sym(f"{s.sym.name}_hi")
    one = lp.For(s.sym, s.low + low, s.low + high, s.body, True, s.vector, s.unroll, s.scan)
    return lp.Chunks(low, high, s.high - s.low, Poly({}), [one])


def _set_by(body: lp.Stmts) -> list[lp.Var]:
    """Variables that statements set, of those around them or at their top."""
    found: list[lp.Var] = []
    for s in body:
        match s:
            case lp.Let(var, _) | lp.Declare(var, _):
                found.append(var)
            case lp.Accumulate(accs=accs) | lp.Chunks(accs=accs):
                found += [a.var for a in accs]
            case lp.Helper(result=result) if result is not None:
                found.append(result)
    inside = {s.var for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare))} - set(found)
    inside |= {a.var for s in lp.walk(body) if isinstance(s, lp.Accumulate) for a in s.accs} - set(found)
    found += [v for v in sorted(assigned(body), key=lambda v: v.name) if v not in inside]
    return list(dict.fromkeys(found))


def _outside_pieces(body: lp.Stmts) -> Iterator[lp.Stmt]:
    """Statements that no loop over independent rounds is around."""
    for s in body:
        yield s
        if not isinstance(s, lp.Chunks) and not (isinstance(s, lp.For) and s.parallel):
            for inner in lp.bodies(s):
                yield from _outside_pieces(inner)


def _used_outside(v: lp.Var, body: lp.Stmts, fn: lp.Function) -> bool:
    return sum(x is v for x in lp.used_vars(fn.body)) > sum(x is v for x in lp.used_vars(body))


def refuse(name: str, span: Span, reason: str, advice: str) -> NoReturn:
    fail("E1201", span, name=name, reason=reason, help=advice)


__all__ = ["Settings", "Tracer", "refuse", "whole"]
