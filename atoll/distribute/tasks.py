"""Tasks for parts of statements: which boxes of arrays each needs and gives, its kernel, and the versions of arrays after it.

Every array is a version that tasks make blocks of, so tasks that do not need each other may run at the same time, and nothing is overwritten. What is cut into which
parts is decided in trace.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from atoll.backends.c.used import collect, written_buffers
from atoll.distribute import ranges
from atoll.distribute.arguments import words_of
from atoll.distribute.blocks import axes_of, given_box
from atoll.distribute.footprint import Box, Touched, around, arrays_made, assigned, is_empty, shape_of_box
from atoll.distribute.graph import Block, Given, Out, Read, Source, Step, Task, Use, Value, Version
from atoll.distribute.kernel import Kernel, Local, Made, tree
from atoll.distribute.words import use
from atoll.errors import NOWHERE, Span, fail
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym

SMALL = 1 << 26  # bytes that may be gathered in one place without being asked
Pieces = tuple[tuple[int, int], ...]


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
class Tasks:
    """What is known while a program is gone through, and the tasks so far."""

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
    keep: list[Any] = field(default_factory=list)  # what keys speak of by identity

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

    def emit(
        self, body: lp.Stmts, found: list[tuple[Touched, Pieces]], kind: str, chunk: lp.Chunks | None = None, values: list[lp.Var] | None = None, axis: str = "",
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

    def axes(self, b: lp.Buffer, found: list[tuple[Touched, Pieces]]) -> tuple[int, ...]:
        return axes_of(self.shapes[b], [t.writes.get(b) for t, _ in found]) or ()

    def boxes(self, found: list[tuple[Touched, Pieces]]) -> list[dict[lp.Buffer, Box]]:
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
        names = ", ".join(dict.fromkeys(b.shown for b in found)) or ", ".join(dict.fromkeys(a.var.shown for a in (chunk.accs if chunk is not None else []))) or ", ".join(dict.fromkeys(v.shown for v in set_by(body))) or "checks"
        return names

    def uses(self, body: lp.Stmts, read: list[lp.Buffer], written: list[lp.Buffer], found: list[tuple[Touched, Pieces]], boxes: list[dict[lp.Buffer, Box]], cuts: dict[lp.Buffer, frozenset[int]], tiles: list[dict[str, tuple[int, int]]] | None) -> tuple[Use, ...]:
        return tuple(use(b, self.shapes[b], b in written, found, boxes, cuts[b], tiles, body, self.number) for b in [*read, *written])


def set_by(body: lp.Stmts) -> list[lp.Var]:
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


def refuse(name: str, span: Span, reason: str, advice: str) -> NoReturn:
    fail("E1201", span.told(), name=name, reason=reason, help=advice)
