"""Running a graph on this machine, one task at a time and with as little at hand as possible: a task runs when something that is wanted needs it,
and what nobody needs any more is given up. The same walk without running tells beforehand how much that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from atoll.distribute.graph import Block, Graph, Read, Source, Task, Value, run_task

Fetch = Callable[[int, tuple[slice, ...]], Any]
Put = Callable[[int, tuple[slice, ...], Any], None]


class Walk:
    """The order in which tasks run, and what is held: here only counted."""

    def __init__(self, graph: Graph, fetches: bool = False, threads: int = 1) -> None:
        self.graph, self.threads = graph, threads
        self.fetches = fetches  # arguments are read from elsewhere, so every part of one is a copy
        self.held: dict[int, list[Any]] = {}
        self.wanted: Counter[tuple[int, int]] = Counter()  # how often an output of a task is still needed
        for task in graph.tasks:
            for s in task.sources():
                self._want(s)
        for version in graph.results:
            for b in version.blocks:
                self._want(b.source)
        self.now = self.peak = 0

    def _want(self, s: Source) -> None:
        if s.kind == "task":
            self.wanted[s.number, s.output] += 1

    def done_with(self, s: Source) -> None:
        """One use of an output is over."""
        if s.kind == "task":
            key = (s.number, s.output)
            self.wanted[key] -= 1
            if self.wanted[key] == 0:
                self.give_up(*key)

    def give_up(self, number: int, output: int) -> None:
        self.now -= self.held[number][output].nbytes
        self.held[number][output] = None

    def need(self, number: int) -> None:
        """Run a task and all it needs."""
        stack = [number]
        while stack:
            at = stack[-1]
            if at in self.held:
                stack.pop()
                continue
            task = self.graph.tasks[at]
            missing = [s.number for s in task.sources() if s.kind == "task" and s.number not in self.held]
            if missing:
                stack += reversed(missing)
                continue
            stack.pop()
            self.run(task)

    def run(self, task: Task) -> None:
        self.hold(task, self.work(task))

    def hold(self, task: Task, given: list[Any]) -> None:
        self.held[task.number] = given
        self.peak = max(self.peak, self.now + self.at_work(task))
        self.now += sum(g.nbytes for g in given)
        for s in task.sources():
            self.done_with(s)
        for j in range(len(given)):  # some outputs nobody asks for
            if not self.wanted[task.number, j]:
                self.give_up(task.number, j)

    def work(self, task: Task) -> list[Any]:
        return sizes_of(task)

    def at_work(self, task: Task) -> int:
        """Bytes of a task beside what is held: what it reads where that is a copy, what it makes, what it allocates."""
        made = sum(o.bytes for o in task.outs) + sum(s.nbytes for s in sizes_of(task)[len(task.outs) :])
        given: int = sum(s.nbytes for o, s in zip(task.outs, sizes_of(task), strict=False) if s.nbytes != o.bytes)
        return made + given + sum(self.copied(r) for r in task.reads) + sum(self.copied(o.old) for o in task.outs if o.old is not None) + task.allocates * (min(self.threads, len(task.pieces)) if task.pieces else 1)

    def copied(self, r: Read) -> int:
        total = 0 if r.is_one else r.bytes
        for p in r.parts:
            n = prod(p.shape) * int(r.dtype.itemsize)
            if p.source.kind == "input" and self.fetches:
                total += n
            elif r.is_one and any(take != (0, size) for take, size in zip(p.take[1:], self._shape(p.source)[1:], strict=False)):
                total += n  # columns of an array are copied
        return total

    def _shape(self, s: Source) -> tuple[int, ...]:
        if s.kind == "input":
            return self.graph.inputs[s.number].shape
        outs = self.graph.tasks[s.number].outs
        return tuple(high - low for low, high in outs[s.output].give) if s.output < len(outs) else ()

    def blocks(self) -> list[tuple[int, Block]]:
        """Blocks of the results, in the order in which they are made."""
        todo = [(k, b) for k, version in enumerate(self.graph.results) for b in version.blocks]
        return sorted(todo, key=lambda item: item[1].source.number if item[1].source.kind == "task" else -1)

    def simulate(self) -> int:
        """The most bytes held at any time, beside arguments and results."""
        for _, b in self.blocks():
            if b.source.kind == "task":
                self.need(b.source.number)
            self.done_with(b.source)
        return self.peak


@dataclass(frozen=True, slots=True)
class _Sized:
    nbytes: int


def sizes_of(task: Task) -> list[_Sized]:
    """What a task gives, as bytes."""
    arrays = [_Sized(prod(high - low for low, high in o.give) * int(o.dtype.itemsize)) for o in task.outs]
    sums = [_Sized(len(task.pieces) * int(dtype.itemsize)) for dtype in task.sums]
    return [*arrays, *sums, *(_Sized(int(dtype.itemsize)) for dtype in task.values)]


class Local(Walk):
    """`fetch(leaf, box)` gives a box of an argument."""

    def __init__(self, graph: Graph, fetch: Fetch, threads: int = 1) -> None:
        super().__init__(graph, threads=threads)
        self.fetch = fetch

    def get(self, s: Source, take: Any) -> Any:
        box = tuple(slice(*x) for x in take)
        if s.kind == "input":
            return self.fetch(s.number, box)
        return self.held[s.number][s.output][box] if box else self.held[s.number][s.output]

    def read(self, r: Read) -> Any:
        return r.assemble([self.get(p.source, p.take) for p in r.parts])

    def work(self, task: Task) -> list[Any]:
        reads = [self.read(r) for r in task.reads]
        olds = [None if o.old is None else self.read(o.old) for o in task.outs]
        scalars = [x.value if isinstance(x, Value) else np.asarray(self.get(x, ()))[()] for _, x in task.scalars]
        return list(run_task(self.graph.kernels[task.kernel], task, reads, olds, scalars, self.threads))

    def results(self, put: Put | None = None) -> list[Any]:
        """The leaves of the result; with `put(leaf, box, block)`, given away block by block."""
        out: list[Any] = [None if put is not None else np.zeros(version.shape, version.dtype) for version in self.graph.results]

        def keep(k: int, box: tuple[slice, ...], part: Any) -> None:
            out[k][box] = part

        for k, b in self.blocks():
            self.block(k, b, keep if put is None else put)
        return out

    def block(self, k: int, b: Block, put: Put) -> None:
        if b.source.kind == "task":
            self.need(b.source.number)
        put(k, tuple(slice(*x) for x in b.box), self.get(b.source, b.take))
        self.done_with(b.source)
