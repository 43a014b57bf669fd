"""A graph on the ranks of MPI: everyone knows all tasks and who runs them, so every message is known on both sides and nothing is negotiated.

An array whose first axis has the size that is cut is given and returned in parts, the rows of a rank; others are whole on every rank. Steps are done
one after the other: a rank sends what others need of what it has, then receives and runs its own tasks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from atoll.ad.asking import function_of
from atoll.distribute.arguments import leaves, library
from atoll.distribute.graph import Graph, Read, Source, Task, Value, run_task
from atoll.distribute.make import make_graph
from atoll.distribute.methods import structure
from atoll.distribute.trace import Settings
from atoll.errors import fail
from atoll.errors.plain import all_plain, plain
from atoll.runtime.arguments import from_python
from atoll.runtime.library import threads
from atoll.types.types import Tuple, flatten, shape_of

if TYPE_CHECKING:
    from atoll.function import Function


def _mpi(what: str) -> Any:
    return library("mpi4py.MPI", "mpi", what)


def _is_cut(sizes: tuple[Any, ...], over: str) -> bool:
    return bool(sizes) and any(getattr(a, "name", "") == over for a in sizes[0].leaves())


class Ranks:
    """A graph shared out: who has which rows of the arguments, who runs which task, who gets which rows of the results."""

    def __init__(self, graph: Graph, rows: list[list[int] | None], comm: Any) -> None:
        self.graph, self.comm, self.me, self.count = graph, comm, comm.rank, comm.size
        self.rows = rows  # per leaf: where the rows of each rank begin, and the end; None: whole everywhere
        self.owner: dict[int, int] = {}
        for step in graph.steps:
            for j, number in enumerate(step.tasks):
                self.owner[number] = j * self.count // len(step.tasks)
        self.last: dict[tuple[int, int], int] = {}  # the step that needs an output last
        for t in graph.tasks:
            for s in t.sources():
                if s.kind == "task":
                    self.last[s.number, s.output] = t.step
        for v in graph.results:
            for b in v.blocks:
                if b.source.kind == "task":
                    self.last[b.source.number, b.source.output] = len(graph.steps)

    def pieces(self, source: Source, take: Any) -> list[tuple[int | None, Source, Any]]:
        """(rank, source, box of what that rank holds) for a box of a source; rank None: everyone has it."""
        if source.kind == "task":
            return [(self.owner[source.number], source, take)]
        starts = self.rows[source.number]
        if starts is None:
            return [(None, source, take)]
        (low, high), *rest = take
        found: list[tuple[int | None, Source, Any]] = []
        for r in range(self.count):
            a, b = max(low, starts[r]), min(high, starts[r + 1])
            if a < b:
                found.append((r, source, ((a - starts[r], b - starts[r]), *rest)))
        return found

    def run(self, given: list[Any], out_rows: list[list[int] | None]) -> list[Any]:
        held: dict[int, list[Any]] = {}
        self.given, self.held, self.tag, self.moved = given, held, 0, 0
        for step in self.graph.steps:
            tasks = [self.graph.tasks[n] for n in step.tasks]
            got, sends = self.exchange([(self.owner[t.number], source, take, dtype) for t in tasks for source, take, dtype in _wants(t)])
            at = 0
            for t in tasks:
                wanted = _wants(t)
                if self.owner[t.number] == self.me:
                    parts = got[at : at + len(wanted)]
                    held[t.number] = self.work(t, parts)
                at += len(wanted)
            _finish(sends)
            for (number, output), last in self.last.items():
                if last == step.number and number in held:
                    held[number][output] = None
        return self.results(out_rows)

    def get(self, source: Source, take: Any) -> Any:
        box = tuple(slice(*x) for x in take)
        whole = self.given[source.number] if source.kind == "input" else self.held[source.number][source.output]
        return np.ascontiguousarray(whole[box]) if box else np.asarray(whole)

    def exchange(self, wanted: list[tuple[int, Source, Any, Any]]) -> tuple[list[Any], list[Any]]:
        """Everyone calls it with the same list: (for which rank, what). What is for me, in the list's order, and what is still being sent."""
        sends, receives, mine = [], [], []
        for rank, source, take, dtype in wanted:
            parts: list[Any] = []
            for holder, where, box in self.pieces(source, take):
                self.tag += 1
                tag = self.tag % 30000
                if holder is None or holder == rank:
                    if rank == self.me:
                        parts.append(self.get(where, box))
                elif holder == self.me:
                    data = self.get(where, box)
                    sends.append((self.comm.Isend(_bytes(data), dest=rank, tag=tag), data))
                elif rank == self.me:
                    room = np.empty(tuple(high - low for low, high in box), dtype)
                    receives.append(self.comm.Irecv(_bytes(room), source=holder, tag=tag))
                    self.moved += room.nbytes
                    parts.append(room)
            mine.append(parts if rank == self.me else None)
        for r in receives:
            r.Wait()
        return [None if p is None else p[0] if len(p) == 1 else np.concatenate(p) for p in mine], sends

    def work(self, t: Task, parts: list[Any]) -> list[Any]:
        left = iter(parts)

        def read(r: Read) -> Any:
            return r.assemble([next(left) for _ in r.parts])

        reads = [read(r) for r in t.reads]
        olds = [None if o.old is None else read(o.old) for o in t.outs]
        scalars = [x.value if isinstance(x, Value) else np.asarray(next(left))[()] for _, x in t.scalars]
        return list(run_task(self.graph.kernels[t.kernel], t, reads, olds, scalars, threads()))

    def results(self, out_rows: list[list[int] | None]) -> list[Any]:
        found = []
        for version, starts in zip(self.graph.results, out_rows, strict=True):
            wanted: list[tuple[int, Source, Any, Any]] = []
            reads: list[Read] = []
            for r in range(self.count):
                box = tuple((0, n) for n in version.shape) if starts is None else ((starts[r], starts[r + 1]), *((0, n) for n in version.shape[1:]))
                read = version.read(box)
                reads.append(read)
                wanted += [(r, p.source, p.take, version.dtype) for p in read.parts]
            got, sends = self.exchange(wanted)
            first = sum(len(r.parts) for r in reads[: self.me])
            found.append(reads[self.me].assemble(got[first : first + len(reads[self.me].parts)]))
            _finish(sends)
        return found


def _wants(t: Task) -> list[tuple[Source, Any, Any]]:
    """What a task needs: parts of arrays, then scalars."""
    arrays: list[tuple[Source, Any, Any]] = [(p.source, p.take, r.dtype) for r in t.needs() for p in r.parts]
    return arrays + [(x, (), dtype) for dtype, x in t.scalars if isinstance(x, Source)]


def _bytes(x: Any) -> Any:
    """An array as MPI takes it."""
    return x.reshape(-1).view(np.uint8)


def _finish(sends: list[Any]) -> None:
    for request, _ in sends:
        request.Wait()


@all_plain
class Step:
    """`at.mpi.step(f)`: call it on every rank with the rank's rows."""

    def __init__(self, f: Any, over: str | None = None) -> None:
        self.function: Function = function_of(f, "mpi.step")
        self.comm = _mpi("at.mpi").COMM_WORLD
        self.over = over if over is not None else _leading(self.function)
        self.moved = 0  # bytes that the last call received
        self._plans: dict[Any, tuple[Ranks, list[list[int] | None]]] = {}

    def __call__(self, *local: Any, **keywords: Any) -> Any:
        f = self.function
        f._freeze()
        given = f._arguments(local, keywords)
        try:
            values = from_python(f.core, given)
            flat = leaves(f, values)
            found = self._run(flat)
        except Exception as error:
            if self.comm.size > 1:
                _end(self.comm, f.name, error)
            raise
        out = [x[()] if not shape_of(t)[0] else x for (_, t), x in zip(flatten(f.core.result), found, strict=True)]
        return structure(f.core.result, iter(out))

    def _run(self, flat: list[Any]) -> list[Any]:
        f, comm = self.function, self.comm
        types = [shape_of(t)[0] for _, p in f.core.params for _, t in flatten(p)]
        cut = [_is_cut(sizes, self.over) for sizes in types]
        everyone = comm.allgather(tuple(np.shape(x) if sizes else x for x, sizes in zip(flat, types, strict=True)))
        key = tuple(everyone)
        if key not in self._plans:
            rows: list[list[int] | None] = []
            shapes = []
            for k, x in enumerate(flat):
                starts = [0, *accumulate(e[k][0] for e in everyone)] if cut[k] else None
                rows.append(starts)
                shapes.append(x if not types[k] else np.broadcast_to(np.zeros((), x.dtype), np.shape(x) if starts is None else (starts[-1], *np.shape(x)[1:])))
            values = structure(_tuple_of(f), iter(shapes))
            graph = make_graph(f, values, Settings(comm.size, gathers=1 << 62))
            self._plans[key] = (Ranks(graph, rows, comm), self._result_rows(graph, rows, types))
        ranks, out_rows = self._plans[key]
        found = ranks.run(flat, out_rows)
        self.moved = ranks.moved
        return found

    def _result_rows(self, graph: Graph, rows: list[list[int] | None], types: list[Any]) -> list[list[int] | None]:
        """Rows of the results: as those of an argument of the same size, else evenly."""
        found: list[list[int] | None] = []
        for (_, t), version in zip(flatten(self.function.core.result), graph.results, strict=True):
            sizes = shape_of(t)[0]
            if not _is_cut(sizes, self.over):
                found.append(None)
                continue
            like = next((r for r, other in zip(rows, types, strict=True) if r is not None and other and other[0] == sizes[0]), None)
            found.append(like or [version.shape[0] * r // self.comm.size for r in range(self.comm.size + 1)])
        return found


def _tuple_of(f: Function) -> Any:
    return Tuple(tuple(t for _, t in f.core.params))


def _leading(f: Function) -> str:
    """The first size of the first array."""
    for _, t in f.core.params:
        for _, leaf in flatten(t):
            for size in shape_of(leaf)[0][:1]:
                for a in size.leaves():
                    return str(getattr(a, "name", a))
    fail("E0610", name="at.mpi.step", text=f"{f.name} has no array among its parameters", help="give it arrays, whose rows are shared out")


def _end(comm: Any, name: str, error: BaseException) -> NoReturn:
    """One rank cannot go on, so none can."""
    sys.stderr.write(f"rank {comm.rank} of {comm.size}: {name} ends: {error}\n")
    sys.stderr.flush()
    comm.Abort(1)
    raise SystemExit(1)


@plain
def step(f: Any, *, over: str | None = None) -> Step:
    """f on the ranks of MPI: every rank gives its rows of the arrays whose first axis has the size `over`, and gets its rows of the result."""
    return Step(f, over)


@plain
def loop(f: Any, rounds: int, *, over: str | None = None, checkpoint: str | Path | None = None, every: int = 100) -> Callable[..., Any]:
    """Many rounds of a function whose results are its next first arguments. With a folder for checkpoints a run that died goes on from the last one."""
    one = Step(f, over)
    if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or rounds < 0:
        fail("E0610", name="at.mpi.loop", text=f"takes a number of rounds, not {rounds!r}", help="write at.mpi.loop(f, 1000)")
    results = [t for _, t in flatten(one.function.core.result)]
    params = [t for _, p in one.function.core.params for _, t in flatten(p)]
    if len(results) > len(params) or any(len(shape_of(a)[0]) != len(shape_of(b)[0]) for a, b in zip(results, params, strict=False)):
        fail("E0610", name="at.mpi.loop", text=f"the results of {one.function.name} are not its first arguments", help="return the next state, in the order of the parameters")

    def run(*local: Any) -> Any:
        state, start = tuple(local), 0
        folder = None if checkpoint is None else Path(checkpoint)
        if folder is not None:
            start, state = _restore(one.comm, folder, state, len(results), int(rounds))
        for k in range(start, int(rounds)):
            made = one(*state)
            made = made if isinstance(made, tuple) else (made,)
            state = (*made, *state[len(made) :])
            if folder is not None and (k + 1) % every == 0:
                _save(one.comm, folder, k + 1, state[: len(made)])
        return state[0] if len(results) == 1 else state[: len(results)]

    run.__name__ = run.__qualname__ = one.function.name
    return run


def _save(comm: Any, folder: Path, done: int, state: tuple[Any, ...]) -> None:
    """Two files for each rank in turn, so that one is always whole."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(folder.glob(f"rank{comm.rank}_*.npz"), key=_done, default=None)
    path = folder / f"rank{comm.rank}_{1 if newest is not None and newest.name.endswith('_0.npz') else 0}.npz"
    partial = folder / f"rank{comm.rank}.partial.npz"
    saved: dict[str, Any] = {f"x{k}": np.asarray(x) for k, x in enumerate(state)}
    np.savez(partial, done=np.int64(done), ranks=np.int64(comm.size), **saved)
    os.replace(partial, path)
    comm.Barrier()


def _done(path: Path) -> int:
    try:
        with np.load(path) as found:
            return int(found["done"])
    except Exception:  # noqa: BLE001  a file that is not whole is none
        return -1


def _restore(comm: Any, folder: Path, state: tuple[Any, ...], count: int, rounds: int) -> tuple[int, tuple[Any, ...]]:
    """The last round that every rank has written down."""
    files = {_done(path): path for path in folder.glob(f"rank{comm.rank}_*.npz")}
    shared = set.intersection(*(set(x) for x in comm.allgather(set(files)))) - {-1}
    usable = sorted(x for x in shared if x <= rounds)
    if not usable:
        return 0, state
    done = usable[-1]
    with np.load(files[done]) as found:
        fits = int(found["ranks"]) == comm.size and all(found[f"x{k}"].shape == np.shape(state[k]) for k in range(count))
        loaded = tuple(found[f"x{k}"] for k in range(count)) if fits else ()
    if not all(comm.allgather(fits)):
        fail("E1208", path=str(folder), reason="it has other ranks or other rows")
    return done, (*loaded, *state[count:])

