"""The kernel language: kernels for a grid of blocks of threads, and the host program that launches them. What is here is what is printed as CUDA C.

    program  ::= the function whose arguments and results these are, kernel..., cells, host statement...
    kernel   ::= name(parameter...), threads of a block, shared b..., stmt...      every thread runs all statements
    stmt     ::= x = e | declare x | x := e | b[i, ...] = e | b[i, ...] op= e      each thread for itself, as in the loop language (loops/ir.py)
              |  for i in low..high: stmt...                                       in order, by one thread
              |  if test: stmt... else: stmt... | forever: stmt... | break if test
              |  alloc b                                  b is `local`: an array of the thread, of literal extents
              |  b is h from p on                         b is the elements of the device buffer h, in their order in memory, from the p-th on
              |  region: stmt...                         left by a check that fails in it; skipped if one has failed in an earlier kernel
              |  ensure test else site, rank             a check; of those that fail in a program's run the first kernel's with the least rank is told
              |  leave unless test                       the end of the region; threads that wait for each other in it leave it together
              |  barrier                                 of all threads of the block, which all come to it
              |  warp barrier                            of the 32 threads of a warp, which all come to it
              |  x = shuffle e from lane l               all threads of the warp come to it; l counts in the warp
              |  x, y = same e                            all threads of the warp come to it; in how many lanes before this one e is the same, and in how many of all
              |  x = digit s of e                         bits s..s + 7 of a number that is ordered as e is; NaN is last, zeros are equal
              |  fence                                   what was stored before is seen by other blocks before what is stored after
              |  [x =] atomic b[i] op= e                 of integers, in any order; x is what was there
              |  tell b[i]                               b[i], which was 0, becomes 1; what this thread stored before is seen by those who await it
              |  await b[i]                              until it is told, by a block that has begun: one that took its number from a counter before this one
              |  swap a, b                                two arrays of the thread exchange their memory
    host     ::= as stmt without the last thirteen; in order; no element of a device buffer is read or written
              |  multiply, x                             x := 1 where the device's library has made a product of matrices, else nothing is done
              |  alloc b | free b | swap a, b | copy b to a | settle | clear b
              |  recorded: stmt...                      as they are; what they launch depends on the values of variables before it only, so a device may keep it
              |  launch kernel on a grid of (e, e)       its parameters are the host's variables, indices, sizes and buffers of the same identity
              |  fetch x from cell                       the host's copy of a scalar; waits for the kernels; a failed check is told here
              |  check                                   as in loops

Threads of a block are numbered 0..threads - 1 (THREAD); blocks by BLOCK and BLOCK_Y in a grid of BLOCKS by any number. A grid with nothing in it is no
launch. Indices are 64-bit, in kernels where they are small 32-bit. A *cell* is a device buffer without axes that holds a scalar between kernels; a kernel that uses it has it as a parameter.

Memory. Two threads of one launch may touch one element of a buffer, or of shared memory in one block, only if all of them read it, or all do so by atomics
of one operator, or a barrier of their block (a fence and an atomic, or a tell and an await, for different blocks) is between them. Launches are one after the other. Shared memory
is written before it is read. What a region that was left would have written is not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Union

from atoll.ainf.ir import Site
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Sym

THREAD = Sym("thread")
"""The number of a thread in its block."""
BLOCK = Sym("block")
BLOCK_Y = Sym("block_y")
BLOCKS = Sym("blocks")
"""How many blocks there are along the first axis of the grid."""
COORDINATES = (THREAD, BLOCK, BLOCK_Y, BLOCKS)

WARP = 32
MOST_THREADS = 1024
MOST_SHARED = 48 * 1024  # bytes of shared memory that a kernel has without asking

Parameter = Union[Sym, lp.Var, lp.Buffer]


# -- statements of threads; those of the loop language are used as they are


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that a failed check leaves."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Ensure:
    """A check. The failure with the least `rank` is told, so what is told does not depend on which thread is quicker."""

    tests: tuple[lp.Test, ...]
    site: Site
    args: tuple[lp.Expr, ...]
    rank: Poly


@dataclass(frozen=True, slots=True)
class Leave:
    """The region is left, unless the tests hold."""

    tests: tuple[lp.Test, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block."""


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """The threads of a warp; what they stored before, each of them sees after."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """var = what `value` is in the thread `lane` of the same warp, 0 <= lane < 32."""

    var: lp.Var
    value: lp.Expr
    lane: Poly


@dataclass(frozen=True, slots=True)
class Same:
    """before = how many earlier lanes of the warp have the same value as this one, count = how many lanes have it. `bits`: the value is from 0 to 2 ** bits - 1,
    0 where it may be any of 32 bits."""

    before: lp.Var
    count: lp.Var
    value: lp.Expr
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Digit:
    """var = 8 bits, from `shift` on, of a whole number that is ordered as the values are."""

    var: lp.Var
    value: lp.Expr
    shift: Poly


@dataclass(frozen=True, slots=True)
class Fence:
    """Stores before it are seen everywhere before those after it."""


@dataclass(frozen=True, slots=True)
class Atomic:
    """buffer[index] = op(buffer[index], value) as one step; op: add, min, max, and, or, xor, of 32 or 64 bits."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]
    op: str
    value: lp.Expr
    old: lp.Var | None = None


@dataclass(frozen=True, slots=True)
class Tell:
    """buffer[index] = 1, after everything that this thread stored or knows of; of 32-bit numbers that are 0 before."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Goes on when buffer[index] was told."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """`buffer` is the elements of `home`, a device buffer, from `first` on in memory. What is swapped is used by this thread alone."""

    buffer: lp.Buffer
    home: lp.Buffer
    first: Poly


# -- statements of the host


@dataclass(frozen=True, slots=True)
class Launch:
    kernel: Kernel
    grid: tuple[Poly, Poly]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A loop of launches, copies and what the host computes for them; `number`: which of the program's."""

    body: tuple[Statement, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Every element of `buffer` is 0."""

    buffer: lp.Buffer


@dataclass(frozen=True, slots=True)
class Fetch:
    """The host's copy of `var` becomes cell[], after everything launched so far."""

    var: lp.Var
    cell: lp.Buffer


@dataclass(frozen=True, slots=True)
class Side:
    """A matrix in a device buffer: where its first element is, and its steps along the result and along the sum."""

    buffer: lp.Buffer
    first: Poly
    across: Poly
    along: Poly


@dataclass(frozen=True, slots=True)
class Multiply:
    """target[i, j] = sum over k of left[i, k] * right[k, j] (`adds`: to what is there) by a library that the device has, if it has one and the product is worth
    it; then `done` becomes 1. The target's rows are `target.across` apart, its columns 1."""

    done: lp.Var
    rows: Poly
    columns: Poly
    depth: Poly
    left: Side
    right: Side
    target: Side
    adds: bool


Statement = Union[lp.Stmt, Region, Ensure, Leave, Barrier, WarpBarrier, Shuffle, Same, Digit, Fence, Atomic, Tell, Await, Part, Launch, Recorded, Clear, Fetch, Multiply]
ATOMIC_OPS = ("add", "min", "max", "and", "or", "xor")


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """What every thread of a launch does. `shared`: buffers of kind "shared" and literal extents, one of each in every block. `resident`: so many blocks
    should have room on a multiprocessor at once, which bounds registers; 0: the compiler's choice. `narrow`: indices and variables of 32 bits, as large as they
    and every polynomial of them are wherever it is launched (narrow.py)."""

    name: str
    parameters: tuple[Parameter, ...]
    threads: int
    body: tuple[Statement, ...]
    shared: tuple[lp.Buffer, ...] = ()
    resident: int = 0
    note: str = ""  # what it computes, in words, for the reader of the text
    narrow: frozenset[Atom] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function on the device. `function` has its sizes, arguments, results and constants; its body is not used."""

    function: lp.Function
    kernels: tuple[Kernel, ...]
    cells: tuple[tuple[lp.Var, lp.Buffer], ...]  # of which scalar
    body: tuple[Statement, ...]
    decisions: tuple[str, ...] = field(default=())


def bodies(stmt: Statement) -> Iterator[Sequence[Statement]]:
    """Statement lists directly inside a statement."""
    if isinstance(stmt, (Region, Recorded)):
        yield stmt.body
    elif not isinstance(stmt, (Ensure, Leave, Barrier, WarpBarrier, Shuffle, Same, Digit, Fence, Atomic, Tell, Await, Part, Launch, Clear, Fetch, Multiply)):
        yield from lp.bodies(stmt)


def walk(stmts: Sequence[Statement]) -> Iterator[Statement]:
    for stmt in stmts:
        yield stmt
        for body in bodies(stmt):
            yield from walk(body)


def written(kernel: Kernel) -> set[Any]:
    """Buffers that a kernel stores into."""
    found: set[Any] = {s.buffer for s in walk(kernel.body) if isinstance(s, (lp.Store, lp.Update, Atomic, Tell))}
    found |= {b for s in walk(kernel.body) if isinstance(s, lp.Swap) for b in (s.first, s.second)}
    return found | {s.home for s in walk(kernel.body) if isinstance(s, Part) and s.buffer in found}


def read(kernel: Kernel) -> set[Any]:
    """Buffers of which a kernel reads elements."""
    found: set[Any] = set()

    def go(x: Any) -> None:
        if isinstance(x, lp.Load):
            found.add(x.buffer)
        if isinstance(x, (tuple, list)):
            for item in x:
                go(item)
        elif is_dataclass(x) and not isinstance(x, (lp.Buffer, lp.Var)):
            for part in fields(x):
                go(getattr(x, part.name))

    go(tuple(kernel.body))
    return found | {s.home for s in walk(kernel.body) if isinstance(s, Part) and s.buffer in found}


def shared_bytes(kernel: Kernel) -> int:
    total = 0
    for b in kernel.shared:
        count = 1
        for p in b.extents:
            n = p.const()
            assert n is not None
            count *= n
        total += (count * b.dtype.size + 15) // 16 * 16
    return total
