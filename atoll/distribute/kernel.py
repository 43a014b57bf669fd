"""A part of a program's loops as a program of its own: the same statements on arrays of which only a box is at hand.

    u: f64[n, m], rows 90..200 of it at hand     u[i - 1, j]  becomes  u[i - 1 - u_at0, j], with u_at0 = 90

Sizes stay those of the whole, so every decision and every sum is made as on one machine. A kernel is data: its C travels to workers, which
compile it once per machine through the cache; the compiled object can travel with it for those that have no compiler.
"""

from __future__ import annotations

import ctypes
import dataclasses
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from atoll.ainf.ir import Site
from atoll.backends.c.jit import generate
from atoll.backends.c.used import collect
from atoll.core.prims import MONOIDS
from atoll.errors import Error, fail
from atoll.loops import ir as lp
from atoll.loops.check import check
from atoll.runtime.cache import cache
from atoll.runtime.identity import text_key
from atoll.runtime.library import attach, bring, carried, expect_products, load, shared_objects
from atoll.runtime.plain_call import NO_OPEN_RESULT, Host
from atoll.runtime.program import raise_site
from atoll.runtime.toolchain import compile_c, target
from atoll.sizes import Poly, Sym, poly

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Kernel:
    """C for one part of a program. `sizes` says what each integer argument is: ("size", symbol's name), ("extent" or "start", array, axis)."""

    name: str
    text: str
    sites: tuple[Site, ...] = field(repr=False)
    kinds: tuple[str, ...] = field(repr=False)
    object: bytes | None = field(default=None, repr=False)
    made_for: str = field(default="", repr=False)
    shared: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)  # the libraries it needs

    def with_object(self) -> Kernel:
        """The kernel with what was compiled here, for workers like this machine that have no compiler."""
        if self.object is not None:
            return self
        found = _loaded(self)
        return dataclasses.replace(self, object=Path(found._name).read_bytes(), made_for=target(), shared=tuple(shared_objects(found).items()))

    def run(self, sizes: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], sums: Sequence[Array] = (), place: int = 0) -> None:
        """Call it. `sums` are arrays that get one element each, at `place`."""
        library = _loaded(self)
        values = max(map(len, self.kinds), default=0)
        c_sizes = (ctypes.c_int64 * max(1, len(sizes)))(*sizes)
        ins = (ctypes.c_void_p * max(1, len(inputs)))(*(a.ctypes.data for a in inputs))
        addresses = [a.ctypes.data for a in outputs] + [a.ctypes.data + place * a.itemsize for a in sums]
        outs = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        host = _host()
        call = host.call(c_sizes, ins, outs, NO_OPEN_RESULT, values)
        status = library.atoll_entry(ctypes.byref(call))
        host.raise_kept(call)
        if status == -1:
            fail("E0713", name=self.name)
        if status == -2:
            raise KeyboardInterrupt
        if status != 0:
            shown = [(call.args[k].i, call.args[k].d) for k in range(values)]
            raise_site(self.sites[status - 1], [float(d) if kind == "d" else i for kind, (i, d) in zip(self.kinds[status - 1], shown, strict=False)])


_lock = threading.Lock()
_libraries: dict[str, Any] = {}
_hosts: list[Host] = []


def _host() -> Host:
    if not _hosts:
        _hosts.append(Host(lambda number, items: None))
    return _hosts[0]


def _loaded(kernel: Kernel) -> Any:
    """The compiled kernel: of this process, of the cache, compiled, or as it came along."""
    with _lock:
        found = _libraries.get(kernel.text)
        if found is None:
            found = _libraries[kernel.text] = _compiled(kernel)
        return found


def _compiled(kernel: Kernel) -> Any:
    def build(folder: Path) -> dict[str, Any]:
        (folder / "program.c").write_text(kernel.text)
        expect_products(kernel.text)
        compile_c(folder / "program.c", folder / "program.so", "3", [])
        return {"kind": "part", "name": kernel.name}

    try:
        library, _, _ = cache.use(text_key("part", kernel.text), build, load)
    except Error as error:
        if error.code != "E0802" or kernel.object is None:
            raise
        if kernel.made_for != target():
            fail("E1205", name=kernel.name, here=target(), there=kernel.made_for)
        library = carried(kernel.object)
        bring(dict(kernel.shared))
    attach(library)
    return library


# -- making one


@dataclass(frozen=True, slots=True)
class Local:
    """An array of which a box is at hand. `cut`: the axes that do not begin at 0 or are not whole."""

    buffer: lp.Buffer
    cut: frozenset[int]


class Made:
    """A kernel being made: the statements moved to local arrays, and what its arguments are."""

    def __init__(self, name: str, body: lp.Stmts, inputs: list[Local], outputs: list[Local], scalars: list[lp.Var], first: tuple[Sym, ...], consts: list[lp.Buffer], accs: Sequence[lp.Acc]) -> None:
        self.extents: dict[Sym, tuple[str, lp.Buffer, int]] = {}
        self.local: dict[lp.Buffer, tuple[lp.Buffer, tuple[Poly, ...]]] = {}
        for kind, each in (("in", inputs), ("out", outputs)):
            for x in each:
                self.local[x.buffer] = self._local(x, kind)
        moved = self.stmts(body)
        results = [self.local[x.buffer][0] for x in outputs]
        totals = []
        for acc in accs:
            total = lp.Buffer(f"{acc.var.name}_part", acc.var.dtype, (), "out")
            neutral = lp.Const(_neutral(acc), acc.var.dtype)
            moved = [lp.Declare(acc.var, neutral), *moved, lp.Store(total, (), lp.Use(acc.var))]
            totals.append(total)
        for var in scalars:
            out = lp.Buffer(f"{var.name}_out", var.dtype, (), "out")
            moved = [*moved, lp.Store(out, (), lp.Use(var))]
            totals.append(out)
        used = collect(moved, set())
        declared = {s.var for s in moved if isinstance(s, (lp.Let, lp.Declare))}
        self.vars = [v for v in used.vars if v not in declared]
        arrays = [*results, *(self.local[x.buffer][0] for x in inputs)]
        shapes = [p for b in arrays for p in (*b.extents, *(() if b.within is None else (b.within,)))]
        rest = [leaf for leaf in (*used.syms, *(leaf for p in shapes for leaf in p.leaves())) if isinstance(leaf, Sym) and leaf not in first]
        self.sizes: tuple[Sym, ...] = (*first, *dict.fromkeys(rest))
        self.inputs, self.outputs = inputs, outputs
        arguments: list[lp.Buffer | lp.Var] = [self.local[x.buffer][0] for x in inputs]
        fn = lp.Function(
            name,
            self.sizes,
            arguments + list(self.vars),
            [lp.Output(b, len(b.extents)) for b in [*results, *totals]],
            moved,
            [c for c in consts if c in used.buffers],
        )
        check(fn, "distribution")
        generated = generate(None, fn)
        self.kernel = Kernel(name, generated.text, tuple(generated.sites), tuple(generated.kinds))

    def _local(self, x: Local, kind: str) -> tuple[lp.Buffer, tuple[Poly, ...]]:
        b = x.buffer
        extents, starts = [], []
        for axis, n in enumerate(b.extents):
            if n.const() is not None and axis not in x.cut:
                extents.append(n)
            else:
                sym = Sym(f"{b.name}_n{axis}")
                self.extents[sym] = ("extent", b, axis)
                extents.append(poly(sym))
            if axis in x.cut:
                sym = Sym(f"{b.name}_at{axis}")
                self.extents[sym] = ("start", b, axis)
                starts.append(poly(sym))
            else:
                starts.append(poly(0))
        made = lp.Buffer(b.name, b.dtype, tuple(extents), kind, b.reason, b.span)
        made.label, made.within = b.label, b.within
        return made, tuple(starts)

    def at(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> tuple[lp.Buffer, tuple[Poly, ...]]:
        found = self.local.get(buffer)
        if found is None or not index:
            return (buffer if found is None else found[0]), index
        return found[0], tuple(p - start for p, start in zip(index, found[1], strict=True))

    def stmts(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        return [self.move(s) for s in stmts]

    def move(self, x: Any) -> Any:
        """Statements and expressions with arrays and indices replaced."""
        match x:
            case lp.Load(buffer, index):
                return lp.Load(*self.at(buffer, index))
            case lp.Store(buffer, index, value):
                return lp.Store(*self.at(buffer, index), self.move(value))
            case lp.Update(buffer, index, op, value):
                return lp.Update(*self.at(buffer, index), op, self.move(value))
            case lp.Helper():
                return dataclasses.replace(x, buffers=tuple(self.at(b, index) for b, index in x.buffers))
            case lp.Buffer():
                return self.local[x][0] if x in self.local else x
            case list():
                return [self.move(item) for item in x]
            case tuple():
                return tuple(self.move(item) for item in x)
        fields = lp.FIELDS.get(type(x))
        return x if fields is None else dataclasses.replace(x, **{name: self.move(getattr(x, name)) for name in fields})


def _neutral(acc: lp.Acc) -> Any:
    return MONOIDS[acc.monoid][1](acc.var.dtype)


def tree(acc: lp.Acc, levels: int) -> tuple[list[lp.Stmt], lp.Buffer]:
    """Partial results of pieces combined as one machine combines them (`all_pieces` of backends/c/piece_text.py): neighbours, then neighbours of those."""
    count = Sym("pieces")
    parts = lp.Buffer("parts", acc.var.dtype, (poly(count),), "in")
    work = lp.Buffer("work", acc.var.dtype, (poly(count),), "temp")
    k = Sym("k")
    body: list[lp.Stmt] = [lp.Alloc(work), lp.For(k, poly(0), poly(count), [lp.Store(work, (poly(k),), lp.Load(parts, (poly(k),)))], True)]
    for level in range(levels):
        w = 1 << level
        at = Sym("k")
        first, second = (poly(at) * (2 * w),), (poly(at) * (2 * w) + w,)
        joined = lp.Call(MONOIDS[acc.monoid][0], (lp.Load(work, first), lp.Load(work, second)), acc.var.dtype)
        body.append(lp.For(at, poly(0), (poly(count) - w + 2 * w - 1) // (2 * w), [lp.Store(work, first, joined)], False))
    return [*body, lp.Let(acc.var, lp.Load(work, (poly(0),))), lp.Free(work)], parts


def run_pieces(kernel: Kernel, sizes: Sequence[int], pieces: Sequence[tuple[int, int]], inputs: Sequence[Array], outputs: Sequence[Array], sums: Sequence[Array], threads: int = 1) -> None:
    """All pieces of a part, each by itself; sums of piece k go to element k of their array."""

    def one(k: int) -> None:
        kernel.run((*pieces[k], *sizes), inputs, outputs, sums, k)

    if threads > 1 and len(pieces) > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(len(pieces))))
    else:
        for k in range(len(pieces)):
            one(k)
