"""A checked executor of kernels and their host program, at concrete sizes. Slow; for tests of the way to a GPU.

Besides what loops/execute.py looks for (indices in range, nothing read before it is written) it finds

    races          two threads of a launch touch one element, one of them writes, and nothing puts them in order: a barrier of their block or warp, or, for
                   different blocks, a fence after the first and an atomic of each on one element in between; atomics of one operator are no race (order.py)
    divergence     a barrier or shuffle that not all threads of the block or warp come to, or not to the same one
    width          an index of a narrow kernel, or a sum or product on the way to it, that is too large for 32 bits (narrow.py)

Threads of a block run one after the other from one place where they wait to the next, blocks one after the other; `backwards` turns both round. What is found
does not depend on which thread came first: two accesses are in order by rule or they are a race.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from atoll.ainf.evaluate import raise_site
from atoll.ainf.ir import Site
from atoll.backends.cuda import language as k
from atoll.backends.cuda import narrow
from atoll.backends.cuda.order import Accesses, Block
from atoll.loops import ir as lp
from atoll.loops.execute import Executor, Memory, Stuck, _Break
from atoll.sizes import Poly, Sym
from atoll.sizes.poly import Quot
from atoll.types.dtypes import DType

_TOGETHER = (k.Barrier, k.WarpBarrier, k.Shuffle, k.Same)
Waits = Generator["k.Barrier | k.WarpBarrier | k.Shuffle | k.Same", None, None]


def ordered(x: Any, dtype: DType) -> int:
    """A whole number that is ordered as values of a type are: NaN last, zeros the same."""
    if not dtype.is_float:
        return int(x) + (1 << (dtype.bits - 1) if dtype.kind == "i" else 0)
    width = 8 * dtype.size
    if x != x:
        return (1 << width) - 1
    bits = int(np.array(x + dtype.numpy.type(0)).view(f"u{dtype.size}")) if x != 0 else 0
    return (1 << width) - 1 - bits if bits >> (width - 1) else bits | 1 << (width - 1)


class _Left(Exception):
    """A check failed: the region is left."""


class Host(Executor):
    """The host program, which launches kernels."""

    def __init__(self, program: k.Program, inputs: list[Any], sizes: dict[Sym, int], backwards: bool = False) -> None:
        super().__init__(program.function, inputs, sizes, backwards=backwards)
        self.program = program
        self.moved: dict[str, list[int]] = {}  # bytes of the device's memory that kernels read and wrote
        self.failed: tuple[int, Site, list[Any]] | None = None  # of the first kernel in which a check failed: rank, place, values
        for _, cell in program.cells:
            self.memory[cell] = Memory((), cell.dtype.numpy, np.zeros((), cell.dtype.numpy))  # as they are on the device

    def stmts(self, stmts: Any) -> None:
        whole = stmts is self.fn.body  # which is that of the loops
        super().stmts(self.program.body if whole else stmts)  # type: ignore[arg-type]
        if whole:
            self.tell()

    def tell(self) -> None:
        """Raise what failed on the device."""
        if self.failed is not None:
            raise_site(self.failed[1], self.failed[2])

    def stmt(self, stmt: Any) -> None:
        match stmt:
            case k.Launch():
                self.launch(stmt)
            case k.Fetch(var, cell):
                self.tell()
                if not self.memory[cell].written[()]:
                    raise Stuck(f"{cell} is fetched before it is written")
                self.set(var, self.memory[cell].cells[()])
            case k.Recorded(body):
                self.stmts(body)
            case k.Clear(buffer):
                self.memory[buffer].cells[...] = 0
                self.memory[buffer].written[...] = True
            case k.Multiply():
                pass  # no library: the kernels are what is looked at
            case lp.Check(tests) if not self.tests(tests):
                self.tell()
                super().stmt(stmt)
            case _:
                super().stmt(stmt)

    def launch(self, launch: k.Launch) -> None:
        kernel = launch.kernel
        columns, rows = (max(0, self.poly(p)) for p in launch.grid)
        for p in kernel.parameters:
            there = p in self.memory if isinstance(p, lp.Buffer) else p in self.values
            if not there:
                raise Stuck(f"{kernel.name} is launched without {p!r}")
        accesses = Accesses(kernel.name)
        told = self.failed is not None
        found: list[tuple[int, Site, list[Any]]] = []
        blocks = [(x, y) for y in range(rows) for x in range(columns)][:: self.step]
        for number, (x, y) in enumerate(blocks):
            _Block(self, kernel, {k.BLOCK: x, k.BLOCK_Y: y, k.BLOCKS: columns}, Block(number, kernel.threads, accesses), told, found).run()
        if found:
            self.failed = min(found, key=lambda f: f[0])


class _Block:
    """One block of a launch: its threads, its shared memory."""

    def __init__(self, host: Host, kernel: k.Kernel, place: dict[Any, int], order: Block, told: bool, found: list[tuple[int, Site, list[Any]]]) -> None:
        self.host, self.kernel, self.order, self.told, self.found = host, kernel, order, told, found
        self.waiting = {id(s) for s in k.walk(kernel.body) if any(isinstance(x, _TOGETHER) for x in k.walk([s]))}  # statements in which a thread may wait
        self.begun: set[tuple[lp.Buffer, int]] = set()  # memory of threads that has been given out
        alone = {s.buffer for s in k.walk(kernel.body) if isinstance(s, lp.Alloc)}  # arrays that every thread has for itself
        self.tracked = (k.written(kernel) | set(kernel.shared)) - alone
        shared = {b: Memory(tuple(p.const() or 0 for p in b.extents), b.dtype.numpy) for b in kernel.shared}
        values: dict[Any, Any] = {p: host.values[p] for p in kernel.parameters if not isinstance(p, lp.Buffer)}
        values |= {p.atom: values[p] for p in kernel.parameters if isinstance(p, lp.Var)}
        memory = {p: host.memory[p] for p in kernel.parameters if isinstance(p, lp.Buffer)} | {c: host.memory[c] for c in host.fn.consts} | shared
        self.given = {p for p in kernel.parameters if isinstance(p, lp.Buffer)}
        self.moved = host.moved.setdefault(kernel.name, [0, 0])
        self.threads = [_Thread(self, t, {**values, **place, k.THREAD: t}, dict(memory)) for t in range(kernel.threads)]

    def run(self) -> None:
        going = {t.number: t.go(self.kernel.body) for t in self.threads}
        places: dict[int, Any] = {}  # where threads wait
        ready = list(going)
        while True:
            for number in ready[:: self.host.step]:
                try:
                    places[number] = next(going[number])
                except StopIteration:
                    places.pop(number, None)
            ready = self.released(places)
            if not ready:
                return

    def released(self, places: dict[int, Any]) -> list[int]:
        """Who may go on, when everybody waits or has ended."""
        for first in range(0, self.kernel.threads, k.WARP):
            warp = range(first, min(first + k.WARP, self.kernel.threads))
            stops = {number: places[number] for number in warp if isinstance(places.get(number), (k.WarpBarrier, k.Shuffle, k.Same))}
            if not stops:
                continue
            stop = next(iter(stops.values()))
            if len(stops) < len(warp) or any(s is not stop for s in stops.values()):
                raise Stuck(f"{self.kernel.name}: not all threads of a warp come to the same {type(stop).__name__}: {sorted(stops)} of {warp} do")
            if isinstance(stop, k.Shuffle):
                self.shuffle(stop, first)
            elif isinstance(stop, k.Same):
                self.same(stop, first)
            else:
                self.order.warp_barrier(first // k.WARP)
            return list(warp)
        if not places:
            return []
        stop = next(iter(places.values()))
        if len(places) < self.kernel.threads or any(s is not stop for s in places.values()):
            raise Stuck(f"{self.kernel.name}: a barrier that not all threads come to: {len(places)} of {self.kernel.threads} wait, {len(set(map(id, places.values())))} places")
        self.order.barrier()
        return list(range(self.kernel.threads))

    def same(self, stop: k.Same, first: int) -> None:
        warp = self.threads[first : first + k.WARP]
        given = [int(t.expr(stop.value)) for t in warp]
        for lane, t in enumerate(warp):
            t.set(stop.before, given[:lane].count(given[lane]))
            t.set(stop.count, given.count(given[lane]))

    def shuffle(self, stop: k.Shuffle, first: int) -> None:
        warp = self.threads[first : first + k.WARP]
        given = [t.expr(stop.value) for t in warp]
        for t in warp:
            lane = t.poly(stop.lane)
            if not 0 <= lane < k.WARP:
                raise Stuck(f"{self.kernel.name}: a shuffle from lane {lane}")
            t.set(stop.var, given[lane])


class _Thread(Executor):
    """What one thread does: statements of the loop language as they are, with every access to what others may see written down."""

    def __init__(self, block: _Block, number: int, values: dict[Any, Any], memory: dict[lp.Buffer, Memory]) -> None:
        self.block, self.number, self.values, self.memory = block, number, values, memory
        self.parts: dict[lp.Buffer, tuple[lp.Buffer, int]] = {}
        self.step = 1

    def go(self, stmts: Sequence[Any]) -> Waits:
        """The statements, with a stop wherever it waits for others."""
        for stmt in stmts:
            if id(stmt) not in self.block.waiting:
                self.stmt(stmt)
                continue
            match stmt:
                case k.Barrier() | k.WarpBarrier() | k.Shuffle() | k.Same():
                    yield stmt
                case k.Region(body):
                    if not self.block.told:
                        try:
                            yield from self.go(body)
                        except _Left:
                            pass
                case lp.If(tests, then, orelse):
                    yield from self.go(then if self.tests(tests) else orelse)
                case lp.For(sym, low, high, body):
                    for i in range(self.poly(low), self.poly(high)):
                        self.values[sym] = i
                        yield from self.go(body)
                case lp.Forever(body):
                    try:
                        while True:
                            yield from self.go(body)
                    except _Break:
                        pass
                case _:
                    raise Stuck(f"{self.block.kernel.name}: threads wait inside a {type(stmt).__name__}")

    def stmt(self, stmt: Any) -> None:
        match stmt:
            case k.Region(body):
                if not self.block.told:
                    try:
                        self.stmts(body)  # type: ignore[arg-type]
                    except _Left:
                        pass
            case k.Ensure(tests, site, args, rank):
                if not self.tests(tests):
                    self.block.found.append((self.poly(rank), site, [self.expr(a) for a in args]))
                    raise _Left
            case k.Leave(tests):
                if not self.tests(tests):
                    raise _Left
            case k.Digit(var, value, shift):
                self.set(var, ordered(self.expr(value), value.dtype) >> self.poly(shift) & 255)
            case k.Fence():
                self.block.order.fence(self.number)
            case k.Atomic(b, index, op, value, old):
                at = self.at(b, index)
                self.need_written(b, at)
                given = self.expr(value)
                self.touch(b, at, op)
                was = self.memory[b].cells[at]
                if old is not None:
                    self.set(old, was)
                self.memory[b].cells[at] = self.op(op, [was, given], b.dtype)
            case k.Tell(b, index):
                at = self.at(b, index)
                self.block.order.fence(self.number)
                self.touch(b, at, "tell")
                self.memory[b].cells[at], self.memory[b].written[at] = 1, True
            case k.Await(b, index):
                at = self.at(b, index)
                self.need_written(b, at)
                self.touch(b, at, "tell")
                if not self.memory[b].cells[at]:
                    raise Stuck(f"{self.block.kernel.name}: {b}{list(at)} is awaited, and no block that began before this one tells it")
            case k.Part(b, home, first):
                start = self.poly(first)
                shape = tuple(max(0, self.poly(p)) for p in b.extents)
                count = int(np.prod(shape, dtype=np.int64))
                whole = self.memory[home]
                if start < 0 or start + count > whole.cells.size:
                    raise Stuck(f"{b} is outside {home}")
                made = Memory((0,), b.dtype.numpy)
                made.cells, made.written = (x.reshape(-1)[start : start + count].reshape(shape) for x in (whole.cells, whole.written))
                if home.kind == "temp" and b.kind == "temp" and (home, start) not in self.block.begun:  # memory of threads, perhaps of several together
                    self.block.begun.add((home, start))
                    made.written[...] = False
                self.memory[b] = made
                self.parts[b] = home, start
            case lp.Store(b, index, _):
                self.in_place(b, index)
                super().stmt(stmt)
            case lp.Update(b, index, _, _):
                self.in_place(b, index)
                self.touch(b, self.at(b, index), "")
                super().stmt(stmt)
            case lp.Swap(a, b):
                self.parts = {(b if x is a else a if x is b else x): where for x, where in self.parts.items()}
                super().stmt(stmt)
            case _:
                super().stmt(stmt)

    def poly(self, p: Poly) -> int:
        self.fits(p)
        return super().poly(p)

    def tests(self, tests: tuple[lp.Test, ...]) -> bool:
        for t in tests:
            if t.poly is not None:
                self.fits(t.poly)
            if not super().tests((t,)):
                return False
        return True

    def fits(self, *polys: Poly) -> None:
        """Polynomials of narrow indices alone, the second and those after it extents that what was before is multiplied with and offsets that are added: nothing that is
        computed on the way is too large for 32 bits."""
        if not self.block.kernel.narrow or not all(p.leaves() <= self.block.kernel.narrow for p in polys):
            return
        most = self.on_the_way(polys[0])
        for extent, offset in zip(polys[1::2], polys[2::2], strict=True):
            most = most * max(1, self.on_the_way(extent)) + self.on_the_way(offset)
        if most > narrow.LIMIT:
            raise Stuck(f"{self.block.kernel.name}: {list(polys)} comes to {most}, too large for the version with narrow indices")

    def on_the_way(self, p: Poly) -> int:
        """No part of a sum of products is larger."""
        total = 0
        for mono, coef in p.terms.items():
            term = abs(coef)
            for atom in mono:
                if isinstance(atom, Quot):
                    self.fits(atom.num)
                    self.fits(atom.den)
                term *= max(1, abs(atom.value(self.atom)))
            total += term
        return total

    def in_place(self, b: lp.Buffer, index: Sequence[Poly]) -> None:
        """The place of an element in memory fits too."""
        if index:
            self.fits(index[0], *(p for pair in zip(b.extents[1:], index[1:], strict=True) for p in pair))

    def need_written(self, b: lp.Buffer, at: tuple[int, ...]) -> None:
        if not self.memory[b].written[at]:
            raise Stuck(f"{b}{list(at)} is combined before it is written")

    def expr(self, e: lp.Expr) -> Any:
        if isinstance(e, lp.Load):
            self.in_place(e.buffer, e.index)
            self.touch(e.buffer, self.at(e.buffer, e.index), None)
            self.moves(e.buffer, 0)
        return super().expr(e)

    def moves(self, b: lp.Buffer, way: int) -> None:
        """Count what goes through the device's memory: read (0), written (1)."""
        if self.parts.get(b, (b, 0))[0] in self.block.given:
            self.block.moved[way] += b.dtype.size

    def write(self, b: lp.Buffer, at: tuple[int, ...], value: Any) -> None:
        self.moves(b, 1)
        self.touch(b, at, "")
        super().write(b, at, value)

    def touch(self, b: lp.Buffer, at: tuple[int, ...], how: str | None) -> None:
        """Write an access down: None reads, "" writes, an operator's name is an atomic."""
        home, first = self.parts.get(b, (b, 0))
        if home in self.block.tracked or home is not b:
            flat = int(np.ravel_multi_index(at, self.memory[b].cells.shape)) if at else 0
            kind = (home, None) if home.kind != "shared" else (home, self.block.order.number)
            self.block.order.touch(self.number, kind, first + flat, how)


def execute(program: k.Program, inputs: list[Any], sizes: dict[Sym, int], backwards: bool = False) -> list[Any]:
    """The leaves of the result, with everything checked."""
    return Host(program, inputs, sizes, backwards).run()
