"""Running a graph on this machine, one task at a time and with as little at hand as possible: a task runs when something that is wanted needs it,
and what nobody needs any more is given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.distribute.graph import Graph, Read, Source, Task, Value, Version, run_task

Fetch = Callable[[int, tuple[slice, ...]], Any]


class Local:
    """`fetch(leaf, box)` gives a box of an argument."""

    def __init__(self, graph: Graph, fetch: Fetch, threads: int = 1) -> None:
        self.graph, self.fetch, self.threads = graph, fetch, threads
        self.held: dict[int, list[Any]] = {}
        self.wanted: Counter[tuple[int, int]] = Counter()  # how often an output of a task is still needed
        self.left: Counter[int] = Counter()
        for task in graph.tasks:
            for s in task.sources():
                self._want(s, 1)
        for version in graph.results:
            for b in version.blocks:
                self._want(b.source, 1)
        self.now = self.peak = 0

    def _want(self, s: Source, by: int) -> None:
        if s.kind == "task":
            self.wanted[s.number, s.output] += by
            self.left[s.number] += by

    def get(self, s: Source, take: Any) -> Any:
        box = tuple(slice(*x) for x in take)
        if s.kind == "input":
            return self.fetch(s.number, box)
        return self.held[s.number][s.output][box] if box else self.held[s.number][s.output]

    def done_with(self, s: Source) -> None:
        if s.kind != "task":
            return
        key = (s.number, s.output)
        self.wanted[key] -= 1
        if self.wanted[key] == 0:
            self.now -= getattr(self.held[s.number][s.output], "nbytes", 0)
            self.held[s.number][s.output] = None

    def read(self, r: Read) -> Any:
        return r.assemble([None if p.source is None else self.get(p.source, p.take) for p in r.parts])

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
        reads = [self.read(r) for r in task.reads]
        olds = [None if o.old is None else self.read(o.old) for o in task.outs]
        scalars = [x.value if isinstance(x, Value) else self.get(x, ()) for _, x in task.scalars]
        given = list(run_task(self.graph.kernels[task.kernel], task, reads, olds, scalars, self.threads))
        self.held[task.number] = given
        self.now += sum(g.nbytes for g in given)
        self.peak = max(self.peak, self.now + sum(getattr(x, "nbytes", 0) for x in [*reads, *olds] if x is not None))
        for s in task.sources():
            self.done_with(s)
        for j, g in enumerate(given):  # some outputs nobody asks for
            if not self.wanted[task.number, j]:
                self.now -= g.nbytes
                given[j] = None

    def results(self, put: Callable[[int, tuple[slice, ...], Any], None] | None = None) -> list[Any]:
        """The leaves of the result; with `put(leaf, box, block)`, given away block by block."""
        out: list[Any] = []
        todo = []
        for k, version in enumerate(self.graph.results):
            out.append(None if put is not None else np.zeros(version.shape, version.dtype))
            todo += [(k, b) for b in version.blocks]
        for k, b in sorted(todo, key=lambda item: item[1].source.number if item[1].source.kind == "task" else -1):
            version = self.graph.results[k]
            if b.source.kind == "task":
                self.need(b.source.number)
            box = box_of(version, b.low, b.high)
            part = self.get(b.source, tuple((b.first, b.first + b.high - b.low) if a == version.axis else (0, n) for a, n in enumerate(version.shape)))
            if put is not None:
                put(k, box, part)
            else:
                out[k][box] = part
            self.done_with(b.source)
        return out


def box_of(version: Version, low: int, high: int) -> tuple[slice, ...]:
    return tuple(slice(low, high) if a == version.axis else slice(0, n) for a, n in enumerate(version.shape))
