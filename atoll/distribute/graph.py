"""A distributed program as data: tasks, what each needs of which array, what it gives; made by trace.py, run by the executors.

    version ::= blocks along one axis, each made by a task or given by the caller      an array as it is at some point of the program
    read    ::= parts of blocks, put together along that axis                            what a task needs of a version: a box
    task    ::= kernel, integers, pieces, reads, scalars -> arrays, partial sums, scalars

Everything is pure: a task may be run again, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from atoll.distribute.footprint import Box, shape_of_box
from atoll.distribute.kernel import Array, Kernel, run_pieces
from atoll.errors import fail


@dataclass(frozen=True, slots=True)
class Source:
    """Where an array is: the caller's leaf `number`, or output `output` of task `number`."""

    kind: str  # input, task
    number: int
    output: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar that is known when the plan is made."""

    value: Any


@dataclass(frozen=True, slots=True)
class Block:
    """Indices low..high of the axis are elements `first`... of what the source holds along it."""

    low: int
    high: int
    source: Source
    first: int = 0


@dataclass(frozen=True, slots=True)
class Version:
    """An array at some point of the program. Where no block is, nothing was written yet."""

    shape: tuple[int, ...]
    dtype: Any
    axis: int
    blocks: tuple[Block, ...]

    @property
    def bytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)

    def read(self, box: Box) -> Read:
        """The parts that make up a box."""
        shape = shape_of_box(box)
        if not self.shape:
            return Read((), self.dtype, 0, tuple(Part(b.source, ()) for b in self.blocks[:1]))
        low, high = box[self.axis]
        parts: list[Part] = []
        at = low
        for b in self.blocks:
            start, stop = max(low, b.low), min(high, b.high)
            if start >= stop:
                continue
            if at < start:
                parts.append(Part(None, self._take(box, 0, start - at)))
            parts.append(Part(b.source, self._take(box, start - b.low + b.first, stop - b.low + b.first)))
            at = stop
        if at < high or not parts:
            parts.append(Part(None, self._take(box, 0, max(0, high - at))))
        return Read(shape, self.dtype, self.axis, tuple(parts))

    def _take(self, box: Box, low: int, high: int) -> Box:
        return tuple((low, high) if axis == self.axis else each for axis, each in enumerate(box))

    def put(self, axis: int, new: tuple[Block, ...]) -> Version:
        """The version with new blocks in place of what they cover."""
        kept: list[Block] = []
        for old in self.blocks if axis == self.axis else ():
            pieces = [old]
            for b in new:
                pieces = [part for p in pieces for part in _without(p, b.low, b.high)]
            kept += pieces
        return Version(self.shape, self.dtype, axis, tuple(sorted([*kept, *new], key=lambda b: b.low)))

    def covers(self, low: int, high: int) -> bool:
        """Is everything between written?"""
        at = low
        for b in self.blocks:
            if b.low <= at < b.high:
                at = b.high
        return at >= high


def _without(b: Block, low: int, high: int) -> list[Block]:
    left = Block(b.low, min(b.high, low), b.source, b.first)
    start = max(b.low, high)
    right = Block(start, b.high, b.source, b.first + start - b.low)
    return [x for x in (left, right) if x.low < x.high]


@dataclass(frozen=True, slots=True)
class Part:
    """A box of what a source holds; without a source, elements that nobody looks at."""

    source: Source | None
    take: Box

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of_box(self.take)


@dataclass(frozen=True, slots=True)
class Read:
    shape: tuple[int, ...]
    dtype: Any
    axis: int
    parts: tuple[Part, ...]
    name: str = ""
    below: int | None = None  # elements are indices below it, as the caller said

    @property
    def bytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)

    def assemble(self, parts: list[Any]) -> Array:
        """The box from what its parts hold, row-major."""
        found = [np.zeros(p.shape, self.dtype) if x is None else np.asarray(x) for p, x in zip(self.parts, parts, strict=True)]
        if len(found) == 1:
            made = found[0].reshape(self.shape)
        else:
            made = np.concatenate(found, axis=self.axis)
        if self.below is not None and made.size and (int(made.min()) < 0 or int(made.max()) >= self.below):
            value = int(made.min()) if made.min() < 0 else int(made.max())
            fail("E0604", name=self.name, arg=self.name, value=value, size=self.below, shown=f"idx[{self.below}]")
        if made.dtype == np.bool_ and self.name:  # a view of other data may hold other bytes than 0 and 1
            made = np.ascontiguousarray(made).view(np.uint8) != 0
        return np.require(made, self.dtype, ["C_CONTIGUOUS", "ALIGNED"])


@dataclass(frozen=True, slots=True)
class Out:
    """An array a task gives: a box is at hand while it works, `give` of it is given. `old`: what the box holds before."""

    shape: tuple[int, ...]
    dtype: Any
    give: Box
    old: Read | None

    @property
    def bytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)


@dataclass(frozen=True, slots=True)
class Task:
    number: int
    step: int
    kernel: int
    sizes: tuple[int, ...]
    pieces: tuple[tuple[int, int], ...]  # none: the kernel is called once
    reads: tuple[Read, ...]
    scalars: tuple[tuple[Any, Source | Value], ...]  # with their dtypes
    outs: tuple[Out, ...]
    sums: tuple[Any, ...] = ()  # dtypes of partial sums, one element for each piece
    values: tuple[Any, ...] = ()  # dtypes of scalars it gives
    allocates: int = 0  # bytes while it works, for each piece that runs at the same time

    @property
    def bytes(self) -> int:
        """What is at hand while it works: what is read, in parts and put together, and what is made."""
        return sum(r.bytes * (1 if len(r.parts) == 1 else 2) for r in self.reads) + sum(o.bytes for o in self.outs)

    def needs(self) -> list[Read]:
        return [*self.reads, *(o.old for o in self.outs if o.old is not None)]

    def sources(self) -> list[Source]:
        found = [p.source for r in self.needs() for p in r.parts if p.source is not None]
        return list(dict.fromkeys([*found, *(s for _, s in self.scalars if isinstance(s, Source))]))


@dataclass(frozen=True, slots=True)
class Use:
    """How a step uses an array: for the reader of a plan."""

    name: str
    kind: str  # cut, whole, given
    text: str
    bytes: int  # for the largest task
    halo: tuple[int, int] | None = None  # indices before and after the range that a task computes


@dataclass(frozen=True, slots=True)
class Step:
    """Tasks that do the same on different parts."""

    number: int
    what: str
    kind: str  # parts, one, sums, in order
    line: int
    tasks: tuple[int, ...]
    uses: tuple[Use, ...]
    axis: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A leaf of the arguments."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    is_scalar: bool = False


@dataclass(frozen=True)
class Graph:
    """A program at sizes that are numbers, in parts."""

    name: str
    sizes: dict[str, int]
    inputs: tuple[Given, ...]
    kernels: tuple[Kernel, ...] = field(repr=False)
    tasks: tuple[Task, ...] = field(repr=False)
    steps: tuple[Step, ...]
    results: tuple[Version, ...]


def run_task(kernel: Kernel, task: Task, reads: list[Array], olds: list[Array | None], scalars: list[Any], threads: int = 1) -> tuple[Any, ...]:
    """What a task gives: arrays, then partial sums, then scalars."""
    ins = [*reads, *(np.asarray(x, dtype) for (dtype, _), x in zip(task.scalars, scalars, strict=True))]
    outs: list[Array] = []
    for out, old in zip(task.outs, olds, strict=True):
        if old is None:
            outs.append(np.zeros(out.shape, out.dtype))
        else:
            outs.append(old if old.flags.owndata and old.flags.writeable else np.array(old, order="C"))
    sums = [np.zeros(len(task.pieces), dtype) for dtype in task.sums]
    values = [np.zeros((), dtype) for dtype in task.values]
    if task.pieces:
        run_pieces(kernel, task.sizes, task.pieces, ins, outs, sums, threads)
    else:
        kernel.run(task.sizes, ins, [*outs, *values])
    given = [x if o.give == tuple((0, n) for n in o.shape) else np.ascontiguousarray(x[tuple(slice(*g) for g in o.give)]) for x, o in zip(outs, task.outs, strict=True)]
    return (*given, *sums, *values)
