"""A distributed program as data: tasks, what each needs of which array, what it gives; made by trace.py, run by the executors.

    version ::= blocks (boxes), each made by a task or given by the caller      an array as it is at some point of the program
    read    ::= parts of blocks, put together                                   what a task needs of a version: a box
    task    ::= kernel, integers, pieces, reads, scalars -> arrays, partial sums, scalars

Everything is pure: a task may be run again, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
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
    """A box of an array lies in what the source holds, from element `first` on."""

    box: Box
    source: Source
    first: tuple[int, ...]

    @property
    def take(self) -> Box:
        """The box as the source counts."""
        return tuple((f, f + high - low) for f, (low, high) in zip(self.first, self.box, strict=True))


@dataclass(frozen=True, slots=True)
class Version:
    """An array at some point of the program. Blocks do not overlap; where none is, nothing was written yet."""

    shape: tuple[int, ...]
    dtype: Any
    blocks: tuple[Block, ...]

    @property
    def bytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)

    def read(self, box: Box) -> Read:
        """The parts that make up a box."""
        parts: list[Part] = []
        for b in self.blocks:
            shared = common(box, b.box)
            if shared is not None:
                take = tuple((low - at + f, high - at + f) for (low, high), (at, _), f in zip(shared, b.box, b.first, strict=True))
                parts.append(Part(b.source, take, tuple(x[0] - y[0] for x, y in zip(shared, box, strict=True))))
        return Read(shape_of_box(box), self.dtype, tuple(parts))

    def put(self, new: tuple[Block, ...]) -> Version:
        """The version with new blocks in place of what they cover."""
        covers = sum(prod(shape_of_box(b.box)) for b in new) == prod(self.shape)
        kept = [] if covers else list(self.blocks)
        for b in () if covers else new:
            kept = [part for old in kept for part in _without(old, b.box)]
        return Version(self.shape, self.dtype, tuple(sorted([*kept, *new], key=lambda b: b.box)))


def common(a: Box, b: Box) -> Box | None:
    """What two boxes share, if it is anything."""
    shared = tuple((max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b, strict=True))
    return None if any(low >= high for low, high in shared) else shared


def _without(b: Block, box: Box) -> list[Block]:
    """What is left of a block: before and after the box along each axis in turn."""
    if common(b.box, box) is None:
        return [b]
    out: list[Block] = []
    left = list(b.box)
    for axis, (low, high) in enumerate(box):
        start, stop = left[axis]
        for part in ((start, min(stop, low)), (max(start, high), stop)):
            if part[0] < part[1]:
                here = (*left[:axis], part, *left[axis + 1 :])
                out.append(Block(here, b.source, tuple(f + x[0] - y[0] for f, x, y in zip(b.first, here, b.box, strict=True))))
        left[axis] = (max(start, low), min(stop, high))
    return out


@dataclass(frozen=True, slots=True)
class Part:
    """A box of what a source holds, and where in what is read it belongs."""

    source: Source
    take: Box
    at: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of_box(self.take)


@dataclass(frozen=True, slots=True)
class Read:
    shape: tuple[int, ...]
    dtype: Any
    parts: tuple[Part, ...]  # what no part covers nobody looks at
    name: str = ""
    below: int | None = None  # elements are indices below it, as the caller said

    @property
    def bytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)

    @property
    def is_one(self) -> bool:
        """Is it one part, so that nothing is put together?"""
        return len(self.parts) == 1 and self.parts[0].shape == self.shape

    def assemble(self, parts: list[Any]) -> Array:
        """The box from what its parts hold, row-major."""
        return self.put_together([(p.at, np.asarray(x)) for p, x in zip(self.parts, parts, strict=True)])

    def put_together(self, parts: list[tuple[tuple[int, ...], Array]]) -> Array:
        """The box from arrays and the places where they belong."""
        if len(parts) == 1 and parts[0][1].size == prod(self.shape):
            made = parts[0][1].reshape(self.shape)
        else:
            made = np.zeros(self.shape, self.dtype)
            for at, x in parts:
                made[tuple(slice(a, a + n) for a, n in zip(at, x.shape, strict=True))] = x
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
        return sum(r.bytes * (1 if r.is_one else 2) for r in self.reads) + sum(o.bytes for o in self.outs)

    def needs(self) -> list[Read]:
        return [*self.reads, *(o.old for o in self.outs if o.old is not None)]

    def sources(self) -> list[Source]:
        found = [p.source for r in self.needs() for p in r.parts]
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

    @cached_property
    def text(self) -> str:
        """All of it, for names of what is made from it."""
        return "\0".join([*(k.text for k in self.kernels), repr(self.tasks), repr(self.results)])

    @cached_property
    def sent(self) -> tuple[Kernel, ...]:
        """Its kernels with their objects."""
        return tuple(k.with_object() for k in self.kernels)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


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
