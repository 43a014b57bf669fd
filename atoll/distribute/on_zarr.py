"""Out of core: arrays in zarr stores through a function, slab by slab, into zarr stores. Slabs are solved from the memory a graph takes.

    OUT             the result (OUT/0, OUT/1, ... when there are several)
    OUT.progress    while it runs: what the computation is, which blocks are written, and what other blocks need again

A block of the result that was written is not computed again after a kill, and neither is anything that is kept in the folder beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.distribute.arguments import bytes_of, leaves, library, stand_ins, words_of
from atoll.distribute.budget import graph_within
from atoll.distribute.graph import Block, Graph, Task
from atoll.distribute.local import Local
from atoll.errors import fail
from atoll.runtime.arguments import from_python
from atoll.runtime.library import threads

if TYPE_CHECKING:
    from atoll.function import Function

SMALL = 1 << 16  # bytes that stay in memory
CHUNKS = 4  # of every store are held while zarr reads and writes
SHARE = 0.75  # of what is left is planned with: allocators keep some of what is given back


class OnDisk:
    """What a task gave, in a file; boxes of it are read when they are asked for."""

    nbytes = 0

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: Any) -> None:
        self.path, self.shape, self.dtype = path, shape, dtype

    def __getitem__(self, box: tuple[slice, ...]) -> Any:
        rows, *rest = box
        row = int(np.prod(self.shape[1:], dtype=np.int64))
        data = np.fromfile(self.path, self.dtype, count=(rows.stop - rows.start) * row, offset=rows.start * row * self.dtype.itemsize)
        return data.reshape(rows.stop - rows.start, *self.shape[1:])[(slice(None), *rest)]


class Streamed(Local):
    """Tasks whose outputs survive a kill."""

    def __init__(self, graph: Graph, fetch: Any, folder: Path, threads: int) -> None:
        super().__init__(graph, fetch, threads)
        self.folder = folder
        self.of_results = {(b.source.number, b.source.output) for v in graph.results for b in v.blocks if b.source.kind == "task"}

    def name(self, number: int, output: int) -> Path:
        return self.folder / f"{number}_{output}.bin"

    def run(self, task: Task) -> None:
        found = self.kept(task)
        if found is not None:
            self.hold(task, found)
            return
        given = self.work(task)
        out: list[Any] = []
        for j, g in enumerate(given):
            if not self.wanted[task.number, j] or self.is_result_only(task.number, j):
                out.append(g)
                continue
            path = self.name(task.number, j)
            partial = path.with_suffix(".partial")
            np.ascontiguousarray(g).tofile(partial)
            os.replace(partial, path)
            out.append(OnDisk(path, g.shape, g.dtype) if g.nbytes > SMALL else g)
        (self.folder / f"{task.number}.done").touch()
        self.hold(task, out)

    def is_result_only(self, number: int, output: int) -> bool:
        """A block of the result, which nobody else reads, is written to the result and nowhere else."""
        return self.wanted[number, output] == 1 and (number, output) in self.of_results

    def kept(self, task: Task) -> list[Any] | None:
        """What an earlier run left of a task."""
        if not (self.folder / f"{task.number}.done").exists():
            return None
        shapes = [tuple(high - low for low, high in o.give) for o in task.outs] + [(len(task.pieces),) for _ in task.sums] + [() for _ in task.values]
        dtypes = [*(o.dtype for o in task.outs), *task.sums, *task.values]
        out: list[Any] = []
        for j, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            path = self.name(task.number, j)
            if path.exists():
                out.append(OnDisk(path, shape, np.dtype(dtype)) if path.stat().st_size > SMALL else np.fromfile(path, dtype).reshape(shape))
            elif self.wanted[task.number, j]:
                return None
            else:
                out.append(np.zeros(0, dtype))
        return out

    def skip(self, b: Block) -> None:
        """A block that was written by an earlier run."""
        if b.source.kind == "task":
            key = (b.source.number, b.source.output)
            self.wanted[key] -= 1
            if self.wanted[key] == 0 and b.source.number in self.held:
                self.give_up(*key)


def stream(f: Function, args: tuple[Any, ...], out: str | os.PathLike[str], memory: Any, progress: Any) -> Any:
    """The result's zarr arrays."""
    zarr = library("zarr", "zarr", "stream")
    limit = bytes_of(memory, "stream")
    path = Path(out)
    if not path.name:
        fail("E0610", name="f.stream", text=f"out is the path of a store that is written anew, not {str(out)!r}", help='write f.stream(..., out="result.zarr")')
    f._freeze()
    given = f._arguments(tuple(_opened(zarr, x) for x in args), {})
    shapes = stand_ins(f, given)
    values = from_python(f.core, shapes)
    flat = leaves(f, given)
    held = CHUNKS * sum(int(np.prod(x.chunks, dtype=float)) * x.dtype.itemsize for x in flat if hasattr(x, "store_path"))
    if 2 * held >= limit:
        fail("E1206", name=f.name, memory=words_of(limit), reason=f"{words_of(2 * held)} are for chunks of its stores while they are read and written")
    graph, peak = graph_within(f, values, int((limit - 2 * held) * SHARE), True, threads(), SMALL)
    peak += 2 * held
    folder = path.with_name(path.name + ".progress")
    names = [path] if len(graph.results) == 1 else [path / str(k) for k in range(len(graph.results))]
    key = _key(graph, flat)
    done = _begin(folder, key, path, names)
    chunks = [_chunks(flat, v) for v in graph.results]
    arrays = [zarr.open_array(str(name), mode="r+") if done else zarr.create_array(str(name), shape=v.shape, chunks=c, dtype=v.dtype, overwrite=True) for name, v, c in zip(names, graph.results, chunks, strict=True)]
    if not done:
        (folder / "ready").touch()
    walk = Streamed(graph, lambda k, box: np.asarray(flat[k][box]) if np.ndim(flat[k]) else flat[k], folder, threads())
    blocks = walk.blocks()
    bar = _bar(f.name, len(blocks), progress, peak)

    def put(k: int, box: tuple[slice, ...], part: Any) -> None:
        arrays[k][box if box else ...] = part

    with zarr.config.set({"async.concurrency": 1, "threading.max_workers": 1}):
        for number, (k, b) in enumerate(blocks):
            if number in done:
                walk.skip(b)
            else:
                walk.block(k, b, put)
                with (folder / "blocks").open("a") as file:
                    file.write(f"{number}\n")
            bar(number + 1)
    shutil.rmtree(folder)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _opened(zarr: Any, x: Any) -> Any:
    if not isinstance(x, (str, Path)):
        return x
    try:
        return zarr.open_array(str(x), mode="r")
    except (OSError, KeyError, ValueError, TypeError) as error:
        fail("E0610", name="stream", text=f"{x} is no zarr array that can be read ({type(error).__name__}: {error})", help="give the path of an array, not of a group, or an array: zarr.open_array(path)")


def _key(graph: Graph, flat: list[Any]) -> str:
    """What is computed: the program at its sizes, and the arguments by what they are called."""
    found = hashlib.sha256()
    for text in (k.text for k in graph.kernels):
        found.update(text.encode())
    found.update(repr(graph.tasks).encode())
    for x in flat:
        name = str(getattr(x, "store_path", "")) or hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
        found.update(f"{name} {np.shape(x)}\0".encode())
    return found.hexdigest()


def _begin(folder: Path, key: str, path: Path, names: list[Path]) -> set[int]:
    """The blocks that an earlier run wrote."""
    note = folder / "what.json"
    if note.exists():
        if json.loads(note.read_text())["key"] != key:
            fail("E1208", path=str(folder), reason="the program, its arguments or the memory differ")
        if (folder / "ready").exists() and all(name.exists() for name in names):
            written = folder / "blocks"
            return {int(line) for line in written.read_text().splitlines() if line.isdigit()} | {-1} if written.exists() else {-1}
        return set()
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"key": key, "result": str(path)}))
    return set()


def _chunks(flat: list[Any], version: Any) -> tuple[int, ...]:
    """Chunks of a result: those of an argument of as many axes, else of some megabytes."""
    for x in flat:
        chunks = getattr(x, "chunks", None)
        if chunks is not None and len(chunks) == len(version.shape) and all(isinstance(c, int) for c in chunks):
            return tuple(max(1, min(c, n)) for c, n in zip(chunks, version.shape, strict=True))
    row = max(1, int(np.prod(version.shape[1:], dtype=float)) * version.dtype.itemsize)
    return tuple(max(1, min(n, (1 << 22) // row) if axis == 0 else n) for axis, n in enumerate(version.shape))


def _bar(name: str, total: int, progress: Any, peak: int) -> Callable[[int], None]:
    if callable(progress):
        return lambda done: progress(done, total)
    if not progress:
        return lambda done: None
    start = time.monotonic()

    def show(done: int) -> None:
        spent = time.monotonic() - start
        left = spent / done * (total - done)
        full = 30 * done // total
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{name} [{'=' * full}{' ' * (30 - full)}] {done}/{total}, {left:.0f} s left, at most {words_of(peak)} {end}")
        sys.stderr.flush()

    return show
