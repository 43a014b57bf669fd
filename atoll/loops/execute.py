"""A checked executor of loops at concrete sizes: every index in range, nothing read before it is written, no two writes of one
cell where one was meant. Slow; for tests of lowering and schedules."""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.ainf.evaluate import raise_site
from atoll.core import portable
from atoll.core.interpret import cast, format_leaves
from atoll.core.meanings import DivisionByZero, NegativePower, NegativeShift
from atoll.core.prims import MONOIDS, PRIMS
from atoll.errors import Error
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.machine import compared, rounds, wrapped
from atoll.types.types import Scalar


def meaning(op: str) -> Any:
    """What an operation means, one of our own functions too (loops/portable.py)."""
    if op.startswith("portable_"):
        return portable.meaning(op.removeprefix("portable_"))
    return PRIMS[op].means


class Stuck(AssertionError):
    """The loops did something the loop language does not allow: a bug in a pass."""


class _Break(Exception):
    pass


class Memory:
    """A buffer's cells and which of them have been written."""

    __slots__ = ("cells", "written", "rows", "newest")

    def __init__(self, shape: tuple[int, ...], dtype: Any, filled: Any = None, rows: int | None = None) -> None:
        self.cells = np.zeros(shape, dtype) if filled is None else filled
        self.written = np.full(shape, filled is not None)
        self.rows, self.newest = rows, -1  # when only some rows are kept: how many, and the last one written

    def forgotten(self, at: tuple[int, ...]) -> bool:
        return self.rows is not None and at[0] <= self.newest - self.rows


class Executor:
    def __init__(self, fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int], piece: int = 3, backwards: bool = False) -> None:
        self.fn = fn
        self.step = -1 if backwards else 1  # pieces and rounds said to be independent may also go from last to first
        self.piece = piece  # pieces are cut this small, so that boundaries are met at small sizes
        self.values: dict[Any, Any] = dict(sizes)
        self.memory: dict[lp.Buffer, Memory] = {}
        for p, arg in zip(fn.inputs, inputs, strict=True):
            if isinstance(p, lp.Var):
                self.values[p.atom] = self.values[p] = arg
            else:
                self.memory[p] = Memory(arg.shape, arg.dtype, arg)
        for c in fn.consts:
            self.memory[c] = Memory(c.value.shape, c.value.dtype, c.value)

    def run(self) -> list[Any]:
        with np.errstate(all="ignore"):
            for out in self.fn.outputs:
                if all(self._known(p) for p in out.buffer.extents):
                    self._alloc(out.buffer)
            self.stmts(self.fn.body)
        results = []
        for out in self.fn.outputs:
            m = self.memory[out.buffer]
            if not m.written.all():
                raise Stuck(f"{out.buffer} was not written everywhere")
            results.append(m.cells if out.rank else m.cells[()])
        return results

    def _known(self, p: Poly) -> bool:
        return all(leaf in self.values for leaf in p.leaves())

    def _alloc(self, b: lp.Buffer) -> None:
        self.memory[b] = Memory(tuple(max(0, self.poly(p)) for p in b.extents), b.dtype.numpy, rows=b.rows)

    # -- values

    def poly(self, p: Poly) -> int:
        return wrapped(p.evaluate(self.atom))

    def atom(self, atom: Atom) -> int:
        return int(self.values[atom.var if isinstance(atom, lp.VarAtom) else atom])

    def at(self, b: lp.Buffer, index: tuple[Poly, ...]) -> tuple[int, ...]:
        found = tuple(self.poly(p) for p in index)
        shape = self.memory[b].cells.shape
        if len(found) != len(shape) or not all(0 <= i < n for i, n in zip(found, shape, strict=True)):
            raise Stuck(f"{b}{list(index)} is {b}{list(found)}, outside {shape}")
        return found

    def expr(self, e: lp.Expr) -> Any:
        match e:
            case lp.Use(var):
                if var not in self.values:
                    raise Stuck(f"{var} is read before it is set")
                return self.values[var]
            case lp.Const(value, dtype):
                return dtype.numpy.type(value)
            case lp.Index(p):
                v = self.poly(p) & (2**64 - 1)
                return np.int64(v - 2**64 if v >> 63 else v)
            case lp.Load(b, index):
                at = self.at(b, index)
                if not self.memory[b].written[at] or self.memory[b].forgotten(at):
                    raise Stuck(f"{b}{list(at)} is read before it is written")
                return self.memory[b].cells[at]
            case lp.Call("extent", (low, high), _):
                return np.int64(rounds(int(self.expr(low)), int(self.expr(high))))
            case lp.Call("and", (a, b), dtype) if dtype.kind == "b":
                return np.bool_(self.expr(a) and self.expr(b))
            case lp.Call("or", (a, b), dtype) if dtype.kind == "b":
                return np.bool_(self.expr(a) or self.expr(b))
            case lp.Call(op, args, dtype):
                return self.op(op, [self.expr(a) for a in args], dtype)
            case lp.Cast(arg, dtype):
                try:
                    return cast(self.expr(arg), Scalar(dtype))
                except Error:
                    return dtype.numpy.type(0)
            case lp.Choose(tests, then, orelse):
                return self.expr(then if self.tests(tests) else orelse)
            case lp.Truth(tests):
                return np.bool_(self.tests(tests))
        raise AssertionError(e)

    def op(self, op: str, args: list[Any], dtype: Any) -> Any:
        try:
            return dtype.numpy.type(meaning(op)(*args))
        except (DivisionByZero, NegativeShift, NegativePower):
            return dtype.numpy.type(0)

    def tests(self, tests: tuple[lp.Test, ...]) -> bool:
        for t in tests:
            if t.poly is not None:
                v = compared(t.poly, self.atom, lambda a: isinstance(a, lp.VarAtom) and not a.var.small)
                ok = v >= 0 if t.kind == "ge" else (v == 0) == (t.kind == "eq")
            else:
                assert t.expr is not None
                ok = bool(self.expr(t.expr)) == (t.kind == "true")
            if not ok:
                return False
        return True

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def set(self, var: lp.Var, value: Any) -> None:
        self.values[var] = var.dtype.numpy.type(value)

    def stmt(self, stmt: lp.Stmt) -> None:
        match stmt:
            case lp.Let(var, value) | lp.Assign(var, value):
                self.set(var, self.expr(value))
            case lp.Declare(var, value):
                if value is not None:
                    self.set(var, self.expr(value))
            case lp.Store(b, index, value):
                v = self.expr(value)
                self.write(b, self.at(b, index), v)
            case lp.Update(b, index, op, value):
                at = self.at(b, index)
                if not self.memory[b].written[at] or self.memory[b].forgotten(at):
                    raise Stuck(f"{b}{list(at)} is combined before it is written")
                self.memory[b].cells[at] = self.op(op, [self.memory[b].cells[at], self.expr(value)], b.dtype)
            case lp.Alloc(b):
                self._alloc(b)
            case lp.Free(b):
                self.memory.pop(b, None)
            case lp.For(sym, low, high, body, parallel):
                for i in range(self.poly(low), self.poly(high))[:: self.step if parallel else 1]:
                    self.values[sym] = i
                    self.round(stmt)
                    self.stmts(body)
            case lp.Accumulate(sym, low, high, body, accs):
                for acc in accs:
                    self.set(acc.var, self.neutral(acc))
                for i in range(self.poly(low), self.poly(high)):
                    self.values[sym] = i
                    self.round(stmt)
                    self.stmts(body)
            case lp.Add(var, monoid, value):
                self.set(var, self.op(MONOIDS[monoid][0], [self.values[var], self.expr(value)], var.dtype))
            case lp.Chunks(low, high, extent, _, body, _):
                n = self.poly(extent)
                for start in range(0, n, self.piece)[:: self.step]:
                    self.values[low], self.values[high] = start, min(n, start + self.piece)
                    self.stmts(body)
            case lp.If(tests, then, orelse):
                self.stmts(then if self.tests(tests) else orelse)
            case lp.Forever(body):
                try:
                    while True:
                        self.round(stmt)
                        self.stmts(body)
                except _Break:
                    pass
            case lp.BreakUnless(tests):
                if not self.tests(tests):
                    raise _Break
            case lp.Check(tests, site, args):
                if not self.tests(tests):
                    raise_site(site, [self.expr(a) for a in args])
            case lp.Helper():
                self.helper(stmt)
            case lp.CopyBuffer(target, source):
                self.memory[target].cells[...] = self.memory[source].cells
                self.memory[target].written[...] = self.memory[source].written
            case lp.Swap(a, b):
                self.memory[a], self.memory[b] = self.memory[b], self.memory[a]
            case lp.Print(parts):
                print("".join(p if isinstance(p, str) else self._shown(p) for p in parts))
            case lp.Product():
                self.stmts(stmt.body)
                self.stmts(stmt.after)
            case lp.Section(_, body):
                self.stmts(body)
            case lp.Note():
                pass

    def round(self, loop: lp.Stmt) -> None:
        """A round of a loop begins."""

    def neutral(self, acc: lp.Acc) -> Any:
        return acc.var.dtype.numpy.type(MONOIDS[acc.monoid][1](acc.var.dtype))

    def write(self, b: lp.Buffer, at: tuple[int, ...], value: Any) -> None:
        if b.kind in ("in", "const"):
            raise Stuck(f"{b} is written")
        m = self.memory[b]
        if m.rows is not None:
            if m.forgotten(at):
                raise Stuck(f"{b}{list(at)} is written after its row was given up")
            m.newest = max(m.newest, at[0])
        m.cells[at] = value
        m.written[at] = True

    def helper(self, h: lp.Helper) -> None:
        if h.name in ("argsort", "sort"):
            (keys, first), (out, at) = h.buffers
            n = self.poly(h.sizes[0])
            source = np.array([self.expr(lp.Load(keys, (*first[:-1], first[-1] + k))) for k in range(n)], keys.dtype.numpy)
            order = np.argsort(source, kind="stable")
            where = tuple(self.poly(p) for p in at)
            for k, value in enumerate(order if h.name == "argsort" else source[order]):
                self.write(out, (*where[:-1], where[-1] + k), value)
        elif h.name == "compress":
            (values, first), (flags, _), (out, at) = h.buffers
            n, count, where = self.poly(h.sizes[0]), 0, tuple(self.poly(p) for p in at)
            for k in range(n):
                if self.expr(lp.Load(flags, (poly(k),))):
                    self.write(out, (*where[:-1], where[-1] + count), self.expr(lp.Load(values, (*first[:-1], first[-1] + k))))
                    count += 1
            if h.result is not None:
                self.set(h.result, count)
        elif h.name == "settle":
            return  # the buffers' memory has been exchanged an even or odd number of times; values are in the first
        elif h.name == "stream":
            (out, at), (line, _) = h.buffers
            where = tuple(self.poly(p) for p in at)
            for k in range(self.poly(h.sizes[0])):
                self.write(out, (*where[:-1], where[-1] + k), self.memory[line].cells[k])
        elif h.name == "fence":
            return
        else:
            raise AssertionError(h.name)

    def _shown(self, part: Any) -> str:
        t, shown, spec = part
        return format_leaves(t, iter([self.memory[x].cells if isinstance(x, lp.Buffer) else self.expr(x) for x in shown]), spec)


def execute(fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int], piece: int = 3, backwards: bool = False) -> list[Any]:
    """The leaves of the result, with everything checked."""
    return Executor(fn, inputs, sizes, piece, backwards).run()
