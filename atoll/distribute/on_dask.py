"""A graph as a graph of Dask: boxes of chunks in, lazy Dask arrays out. Halos are boxes, which cross any number of chunks.

One layer holds everything: boxes of what others made, tasks, chunks of the results. Every argument of a task is named by its key, in its place: lists in which
delayed values and arrays stand side by side are handed over by dask.delayed (2026.8) in another order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise, product
from math import prod
from typing import Any

import numpy as np

from atoll.distribute.footprint import Box
from atoll.distribute.graph import Graph, Read, Source, Task, Value, Version, common, run_task
from atoll.distribute.kernel import Kernel

Place = tuple[int, ...]


def run(kernel: Kernel, task: Task, places: list[list[Place]], parts: list[list[Any]], scalars: list[Any]) -> tuple[Any, ...]:
    """On a worker: put together what a task needs, and do it. Workers are many, so each task has one thread."""
    found = [r.put_together([(at, np.asarray(x)) for at, x in zip(ats, xs, strict=True)]) for r, ats, xs in zip(task.needs(), places, parts, strict=True)]
    reads, rest = found[: len(task.reads)], iter(found[len(task.reads) :])
    olds = [None if o.old is None else next(rest) for o in task.outs]
    return run_task(kernel, task, reads, olds, [np.asarray(x)[()] if isinstance(x, np.ndarray) else x for x in scalars])


def together(read: Read, places: list[Place], parts: list[Any]) -> Any:
    """A chunk of a result."""
    return read.put_together([(at, np.asarray(x)) for at, x in zip(places, parts, strict=True)])


def taken(x: Any, output: int | None, box: tuple[slice, ...]) -> Any:
    """A box of a chunk, or of an output of a task."""
    whole = x if output is None else x[output]
    return whole[box] if box else whole


class Layer:
    """The graph that is being made: what has a key is made once."""

    def __init__(self, graph: Graph, given: list[Any], da: Any) -> None:
        from dask._task_spec import DataNode, List, Task, TaskRef
        from dask.base import tokenize

        self.graph, self.given, self.da = graph, given, da
        self.spec_task, self.ref, self.list, self.data = Task, TaskRef, List, DataNode
        self.arrays: list[Any] = [x if hasattr(x, "dask") else None if g.is_scalar else da.from_array(x, chunks=-1) for g, x in zip(graph.inputs, given, strict=True)]
        self.starts: list[list[list[int]]] = [[] if a is None else [[0, *accumulate(axis)] for axis in a.chunks] for a in self.arrays]
        token = tokenize(graph.text, [None if a is None else a.name for a in self.arrays])
        self.name = f"{''.join(c if c.isalnum() or c == '_' else '_' for c in graph.name)}-{token}"
        self.nodes: dict[Any, Any] = {}

    def add(self, key: Any, function: Any, *args: Any) -> Any:
        if key not in self.nodes:
            self.nodes[key] = self.spec_task(key, function, *args)
        return self.ref(key)

    def boxes(self, s: Source, take: Box) -> Iterator[tuple[Place, Any]]:
        """Where in the box, and what: a box of a source in as many parts as there are chunks."""
        if s.kind == "task":
            outs = self.graph.tasks[s.number].outs
            is_whole = s.output >= len(outs) or all(x == (0, high - low) for x, (low, high) in zip(take, outs[s.output].give, strict=True))
            box = () if is_whole else tuple(slice(*x) for x in take)
            yield (0,) * len(take), self.add((self.name + "-box", s.number, s.output, *(n for x in (() if is_whole else take) for n in x)), taken, self.ref((self.name, s.number)), s.output, box)
            return
        if any(low >= high for low, high in take):
            return
        array, starts = self.arrays[s.number], self.starts[s.number]
        spans = [range(bisect_right(at, low) - 1, max(bisect_right(at, low), bisect_right(at, high - 1))) for at, (low, high) in zip(starts, take, strict=True)]
        for chunk in product(*spans):
            have = tuple((starts[a][k], starts[a][k + 1]) for a, k in enumerate(chunk))
            shared = common(take, have)
            if shared is None:
                continue
            ref: Any = self.ref((array.name, *chunk))
            if shared != have:
                inside = tuple((low - at, high - at) for (low, high), (at, _) in zip(shared, have, strict=True))
                ref = self.add((self.name + "-box", f"argument {s.number}", *chunk, *(n for x in inside for n in x)), taken, ref, None, tuple(slice(*x) for x in inside))
            yield tuple(x[0] - y[0] for x, y in zip(shared, take, strict=True)), ref

    def parts(self, r: Read) -> tuple[list[Place], list[Any]]:
        places, refs = [], []
        for p in r.parts:
            for at, ref in self.boxes(p.source, p.take):
                places.append(tuple(a + b for a, b in zip(p.at, at, strict=True)))
                refs.append(ref)
        return places, refs

    def task(self, t: Task) -> None:
        kernel = (self.name + "-kernel", t.kernel)
        if kernel not in self.nodes:
            self.nodes[kernel] = self.data(kernel, self.graph.sent[t.kernel])
        needs = [self.parts(r) for r in t.needs()]
        scalars = [self.scalar(x) for _, x in t.scalars]
        self.add((self.name, t.number), run, self.ref(kernel), t, [places for places, _ in needs], self.list(*(self.list(*refs) for _, refs in needs)), self.list(*scalars))

    def scalar(self, x: Source | Value) -> Any:
        """One number: as it is, of another task, or of a Dask array without axes."""
        if isinstance(x, Value):
            return x.value
        if x.kind == "task":
            return next(self.boxes(x, ()))[1]
        array = self.arrays[x.number]
        return self.given[x.number] if array is None else self.ref((array.name,))

    def result(self, k: int, version: Version) -> tuple[str, tuple[tuple[int, ...], ...], dict[Any, Any]]:
        """Name, chunks and tasks of a leaf of the result."""
        name, cuts, nodes = f"{self.name}-result{k}", grid(version), {}
        for number in product(*(range(len(at) - 1) for at in cuts)):
            read = version.read(tuple((at[j], at[j + 1]) for at, j in zip(cuts, number, strict=True)))
            places, refs = self.parts(read)
            nodes[name, *number] = self.spec_task((name, *number), together, read, places, self.list(*refs))
        return name, tuple(tuple(b - a for a, b in pairwise(at)) for at in cuts), nodes


def grid(version: Version) -> list[list[int]]:
    """Where chunks of a result begin and end: as its blocks do along every axis, or only along the first where those would be many more."""
    ends = [sorted({0, n, *(x for b in version.blocks for x in b.box[a])}) for a, n in enumerate(version.shape)]
    if prod(len(at) - 1 for at in ends) > max(1, len(version.blocks)):
        ends = [at if a == 0 else sorted({0, n}) for a, (at, n) in enumerate(zip(ends, version.shape, strict=True))]
    return [at if len(at) > 1 else [0, 0] for at in ends]


def lazy(graph: Graph, given: list[Any], da: Any) -> list[Any]:
    """The leaves of the result as Dask arrays."""
    from dask.highlevelgraph import HighLevelGraph

    layer = Layer(graph, given, da)
    for t in graph.tasks:
        layer.task(t)
    results = [layer.result(k, version) for k, version in enumerate(graph.results)]
    shared = HighLevelGraph.from_collections(layer.name, layer.nodes, dependencies=[a for a in layer.arrays if a is not None])
    needed = {layer.name, *shared.dependencies[layer.name]}
    return [
        da.Array(HighLevelGraph({**shared.layers, name: nodes}, {**shared.dependencies, name: needed}), name, chunks, dtype=version.dtype)
        for (name, chunks, nodes), version in zip(results, graph.results, strict=True)
    ]


def cut_of(arrays: list[Any]) -> int:
    """Into how many parts arguments are cut: as many as the array of most chunks."""
    return max((int(a.npartitions) for a in arrays if hasattr(a, "npartitions")), default=1)

