"""Are kernels and their host program well formed? Checked after every pass; a failure is a bug of the compiler, never of the user.

    scope       statements mention parameters, coordinates, and what is declared before them in this block or one around it
    memory      a kernel stores into no argument and no constant; shared memory has literal extents and fits; thread arrays are the thread's
    regions     an ensure and a leave stand in a region; barriers and shuffles stand in none of a kernel that has one
    threads     a block has 1 to 1024 threads; kernels with shuffles have whole warps
    recorded    nothing in it waits, fails, or has memory of its own
    host        no element of a device buffer is read or written; launches give what kernels take
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.free import Mentioned
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, Sym
from atoll.types.dtypes import U32

_TOGETHER = (k.Barrier, k.WarpBarrier, k.Shuffle, k.Same)
_OF_THREADS = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.If, lp.Forever, lp.BreakUnless, lp.Alloc, lp.Swap, lp.Note)
_OF_KERNELS = (k.Region, k.Ensure, k.Leave, k.Barrier, k.WarpBarrier, k.Shuffle, k.Same, k.Digit, k.Fence, k.Atomic, k.Tell, k.Await, k.Part)
_OF_HOST = (lp.Let, lp.Declare, lp.Assign, lp.For, lp.If, lp.Forever, lp.BreakUnless, lp.Check, lp.Alloc, lp.Free, lp.Swap, lp.CopyBuffer, lp.Helper, lp.Note, k.Launch, k.Recorded, k.Clear, k.Fetch, k.Multiply)
_RECORDED = (lp.Let, lp.Declare, lp.Assign, lp.For, lp.If, lp.Forever, lp.BreakUnless, lp.Swap, lp.CopyBuffer, lp.Note, k.Launch, k.Clear)


class Malformed(AssertionError):
    """Kernels that break the rules above."""


def check(program: k.Program, after: str = "") -> k.Program:
    """The program itself, if it is well formed."""
    try:
        for kernel in program.kernels:
            _Kernel(kernel).check()
        _host(program)
    except Malformed as problem:
        raise (Malformed(f"after {after}: {problem}") if after else problem) from None
    return program


class _Kernel:
    def __init__(self, kernel: k.Kernel) -> None:
        self.kernel = kernel
        self.known: set[Any] = {*k.COORDINATES, *kernel.parameters, *kernel.shared}
        self.regions = 0
        self.forever = 0
        self.fails = any(isinstance(s, k.Ensure) for s in k.walk(kernel.body))

    def need(self, ok: bool, what: str) -> None:
        if not ok:
            raise Malformed(f"{self.kernel.name}: {what}")

    def check(self) -> None:
        kernel = self.kernel
        self.need(1 <= kernel.threads <= k.MOST_THREADS, f"blocks of {kernel.threads} threads")
        together = [s for s in k.walk(kernel.body) if isinstance(s, (k.Shuffle, k.Same, k.WarpBarrier))]
        self.need(not together or kernel.threads % k.WARP == 0, "shuffles without whole warps")
        for b in kernel.shared:
            self.need(b.kind == "shared" and all(p.const() is not None for p in b.extents), f"{b.name} is not shared memory of literal extents")
        self.need(k.shared_bytes(kernel) <= k.MOST_SHARED, "too much shared memory")
        for p in kernel.parameters:
            self.need(not isinstance(p, lp.Buffer) or p.kind != "shared", f"{p!r} is shared memory and a parameter")
        self.block(kernel.body)

    def block(self, stmts: Sequence[k.Statement]) -> None:
        outside = set(self.known)
        for stmt in stmts:
            self.stmt(stmt)
        self.known = outside

    def stmt(self, stmt: k.Statement) -> None:
        self.need(isinstance(stmt, _OF_THREADS + _OF_KERNELS), f"{type(stmt).__name__} in a kernel")
        if isinstance(stmt, _TOGETHER):
            self.need(self.regions == 0 or not self.fails, f"{type(stmt).__name__} in a region that checks may leave")
        match stmt:
            case lp.Let(var, value):
                self.uses(value)
                self.known.add(var)
            case lp.Declare(var, value):
                self.uses(value)
                self.known.add(var)
            case lp.Assign(var, value):
                self.need(var in self.known, f"{var} is assigned before it is declared")
                self.uses(value)
            case lp.Store(buffer, index, value) | lp.Update(buffer, index, _, value):
                self.writes(buffer, index)
                self.uses(value)
            case k.Atomic(buffer, index, op, value, old):
                self.writes(buffer, index)
                self.uses(value)
                self.need(op in k.ATOMIC_OPS and buffer.dtype.is_integer and buffer.dtype.bits >= 32, f"atomic {op} of {buffer.dtype}")
                if old is not None:
                    self.known.add(old)
            case k.Tell(buffer, index) | k.Await(buffer, index):
                self.writes(buffer, index)
                self.need(buffer.dtype is U32, f"{buffer.dtype} is told")
            case lp.Alloc(buffer):
                self.need(all(p.const() is not None for p in buffer.extents), f"{buffer} has no literal extents")
                self.known.add(buffer)
            case k.Part(buffer, home, first):
                self.need(home in self.known, f"{home} is no parameter")
                self.uses(first)
                self.known.add(buffer)
            case k.Shuffle(var, value, lane):
                self.uses(value)
                self.uses(lane)
                self.known.add(var)
            case k.Same(before, count, value):
                self.uses(value)
                self.known |= {before, count}
            case k.Digit(var, value, shift):
                self.uses(value)
                self.uses(shift)
                self.known.add(var)
            case lp.For(sym, low, high, body):
                self.uses(low)
                self.uses(high)
                self.need(not stmt.parallel, "a parallel loop in a thread")
                self.known.add(sym)
                self.block(body)
                self.known.discard(sym)
            case lp.If(tests, then, orelse):
                self.uses(tests)
                self.block(then)
                self.block(orelse)
            case lp.Forever(body):
                self.forever += 1
                self.block(body)
                self.forever -= 1
            case lp.BreakUnless(tests):
                self.need(self.forever > 0, "a break outside a loop")
                self.uses(tests)
            case k.Region(body):
                self.regions += 1
                self.block(body)
                self.regions -= 1
            case k.Ensure(tests, _, args, rank):
                self.need(self.regions > 0, "an ensure outside a region")
                self.uses((tests, args, rank))
            case k.Leave(tests):
                self.need(self.regions > 0, "nothing to leave")
                self.uses(tests)
            case lp.Swap(first, second):
                self.need(first in self.known and second in self.known, "a swap of unknown arrays")

    def writes(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> None:
        self.need(buffer in self.known, f"{buffer} is not a parameter")
        self.need(buffer.kind not in ("in", "const"), f"{buffer} is written")
        self.need(len(index) == len(buffer.extents), f"{buffer} has {len(index)} indices")
        self.uses(index)

    def uses(self, x: Any) -> None:
        if isinstance(x, Poly):
            for leaf in x.leaves():
                name = leaf.var if isinstance(leaf, lp.VarAtom) else leaf
                self.need(name in self.known, f"{name!r} is not known here")
        elif isinstance(x, (tuple, list)):
            for item in x:
                self.uses(item)
        elif isinstance(x, lp.Test):
            self.uses((x.poly, x.expr))
        elif isinstance(x, lp.Use):
            self.need(x.var in self.known, f"{x.var} is not known here")
        elif isinstance(x, lp.Index):
            self.uses(x.poly)
        elif isinstance(x, lp.Load):
            self.need(x.buffer in self.known or x.buffer.kind == "const", f"{x.buffer} is not known here")
            self.need(len(x.index) == len(x.buffer.extents), f"{x.buffer} has {len(x.index)} indices")
            self.uses(x.index)
        elif isinstance(x, lp.Call):
            self.uses(x.args)
        elif isinstance(x, lp.Cast):
            self.uses(x.arg)
        elif isinstance(x, lp.Choose):
            self.uses((x.tests, x.then, x.orelse))
        elif isinstance(x, lp.Truth):
            self.uses(x.tests)


def _host(program: k.Program) -> None:
    cells = {cell for _, cell in program.cells}
    fetched = {s.var for s in k.walk(program.body) if isinstance(s, k.Fetch)}
    made: set[Any] = {*program.function.sizes, *program.function.inputs, *(o.buffer for o in program.function.outputs), *cells, *fetched}
    for stmt in k.walk(program.body):
        if not isinstance(stmt, _OF_HOST):
            raise Malformed(f"{type(stmt).__name__} on the host")
        if not isinstance(stmt, k.Launch) and loads(stmt):
            raise Malformed(f"the host reads an element in {type(stmt).__name__}")
        if isinstance(stmt, (lp.Let, lp.Declare)):
            made.add(stmt.var)
        elif isinstance(stmt, lp.Alloc):
            made.add(stmt.buffer)
        elif isinstance(stmt, lp.For):
            made.add(stmt.sym)
        elif isinstance(stmt, k.Launch):
            missing = [p for p in stmt.kernel.parameters if p not in made]
            if missing:
                raise Malformed(f"{stmt.kernel.name} is launched without {missing}")
            if stmt.kernel not in program.kernels:
                raise Malformed(f"{stmt.kernel.name} is no kernel of the program")
        elif isinstance(stmt, k.Recorded):
            for inner in k.walk(stmt.body):
                if not isinstance(inner, _RECORDED):
                    raise Malformed(f"{type(inner).__name__} is recorded")
        elif isinstance(stmt, k.Clear):
            if stmt.buffer not in made or stmt.buffer.kind in ("in", "const"):
                raise Malformed(f"{stmt.buffer} is cleared")
        elif isinstance(stmt, k.Multiply):
            for b in (stmt.left.buffer, stmt.right.buffer, stmt.target.buffer):
                if b not in made or b.dtype is not stmt.target.buffer.dtype:
                    raise Malformed(f"a product of {b}, which is not made yet or of another type than its result")
            if stmt.target.buffer.kind in ("in", "const") or stmt.done not in made:
                raise Malformed(f"a product into {stmt.target.buffer}, told in {stmt.done}")
        for p in Mentioned([stmt]).syms if not isinstance(stmt, (k.Launch, k.Recorded)) else ():
            if not isinstance(p, Sym) or p not in made:
                raise Malformed(f"the host does not know {p!r}")
