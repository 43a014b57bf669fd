"""A graph as a graph of Dask: slices of Dask arrays in, lazy Dask arrays out. Halos are slices, which cross any number of chunks."""

from __future__ import annotations

from typing import Any

from atoll.distribute.graph import Graph, Read, Source, Task, Value, run_task
from atoll.distribute.kernel import Kernel


def run(kernel: Kernel, task: Task, reads: list[list[Any]], olds: list[list[Any] | None], scalars: list[Any]) -> tuple[Any, ...]:
    """On a worker: put together what a task needs, and do it. Workers are many, so each task has one thread."""
    found = [r.assemble(parts) for r, parts in zip(task.reads, reads, strict=True)]
    before = [None if o.old is None or parts is None else o.old.assemble(parts) for o, parts in zip(task.outs, olds, strict=True)]
    return run_task(kernel, task, found, before, scalars)


def lazy(graph: Graph, given: list[Any], dask: Any, da: Any) -> list[Any]:
    """The leaves of the result as Dask arrays."""
    delayed = dask.delayed
    arrays: list[Any] = [None if g.is_scalar else x if hasattr(x, "dask") else da.from_array(x, chunks=-1) for g, x in zip(graph.inputs, given, strict=True)]
    kernels = [delayed(k.with_object(), traverse=False, pure=True) for k in graph.kernels]
    made: dict[int, Any] = {}

    def get(s: Source, take: Any) -> Any:
        box = tuple(slice(*x) for x in take)
        if s.kind == "input":
            return given[s.number] if graph.inputs[s.number].is_scalar else arrays[s.number][box]
        whole = made[s.number][s.output]
        return whole[box] if box and not _is_whole(graph, s, take) else whole

    def parts(r: Read) -> list[Any]:
        return [None if p.source is None else get(p.source, p.take) for p in r.parts]

    call = delayed(run, pure=False)
    for t in graph.tasks:
        scalars = [x.value if isinstance(x, Value) else get(x, ()) for _, x in t.scalars]
        olds = [None if o.old is None else parts(o.old) for o in t.outs]
        made[t.number] = call(kernels[t.kernel], delayed(t, traverse=False), [parts(r) for r in t.reads], olds, scalars, dask_key_name=f"{_plain(graph.name)}-{t.step}-{t.number}-{_token()}")
    results = []
    for version in graph.results:
        blocks = []
        for b in version.blocks:
            take = tuple((b.first, b.first + b.high - b.low) if a == version.axis else (0, n) for a, n in enumerate(version.shape))
            if b.source.kind == "input":
                blocks.append(arrays[b.source.number][tuple(slice(*x) for x in take)])
            else:
                shape = tuple(high - low for low, high in take)
                blocks.append(da.from_delayed(get(b.source, take), shape, dtype=version.dtype))
        if not blocks:
            results.append(da.zeros(version.shape, dtype=version.dtype))
        else:
            results.append(blocks[0] if len(blocks) == 1 else da.concatenate(blocks, axis=version.axis))
    return results


def _is_whole(graph: Graph, s: Source, take: Any) -> bool:
    outs = graph.tasks[s.number].outs
    return s.output < len(outs) and all(x == (0, high - low) for x, (low, high) in zip(take, outs[s.output].give, strict=True))


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def _token() -> str:
    import uuid

    return uuid.uuid4().hex


def cut_of(arrays: list[Any]) -> int:
    """Into how many parts arguments are cut: as many as the array of most chunks."""
    return max((int(a.npartitions) for a in arrays if hasattr(a, "npartitions")), default=1)
