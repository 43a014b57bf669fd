"""Kernels a second time, with indices of 32 bits: the host launches that version where everything an index is computed from and by stays below 2**31.

    launch k on g          becomes          if bound < 2**31: launch k_32 on g   else: launch k on g

A product of indices takes one multiplication instead of several, an index one register instead of two, and a quotient no path for large numbers (docs/sources.md G1).

The bound. Of every polynomial of the kernel, flattened places of elements among them, the sum of the absolute values of its terms, each index in them at its largest and at least 1: no sum
and no product computed on the way is larger. The largest of an index: coordinates are below their grid, the index of a loop between its bounds, a quotient at most the largest numerator over the
denominator plus one, a variable that is set once what it is set to (of a minimum or maximum, all of it); what the maker of a kernel knows better (`ranges`) it says. The host computes bounds as f64,
where nothing overflows. Polynomials that mention anything else (numbers read from arrays) stay at 64 bits in both versions, with the numbers of the host as they are given. The executor looks at every polynomial of a narrow
kernel, and at what is computed on its way (execute.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Union

from atoll.ainf.ir import Site
from atoll.backends.cuda import language as k
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import Quot
from atoll.types.dtypes import BOOL, F64, I64

LIMIT = 2**31 - 2  # of a bound: one is left for n > k instead of n - k - 1 >= 0
MOST_BOUNDS = 12  # that a host compares
_KNOWN = (k.Region, k.Ensure, k.Leave, lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.If, lp.For, lp.Alloc, lp.Note)


@dataclass(frozen=True)
class Ratio:
    """At most `num` over what `den` is on the host."""

    num: tuple[tuple[tuple[Key, ...], int], ...]
    den: Poly


Key = Union[Atom, Ratio]
Bound = dict[tuple[Key, ...], int]  # a sum of products of what the host knows, all of it not negative


class _Bounds:
    def __init__(self, kernel: k.Kernel, grid: tuple[Poly, Poly], ranges: Mapping[lp.Var, Poly]) -> None:
        self.host: set[Atom] = {p if isinstance(p, Sym) else p.atom for p in kernel.parameters if isinstance(p, Sym) or (isinstance(p, lp.Var) and p.dtype is I64)}
        self.order: dict[Key, int] = {}
        self.largest: dict[Atom, Bound] = {a: {(a,): 1} for a in sorted(self.host, key=repr)}
        self.needed: list[Bound] = []
        self.changed = {s.var for s in k.walk(kernel.body) if isinstance(s, lp.Assign)}
        self.ranges = ranges
        self.lets: dict[lp.Var, Bound | None] = {}
        self.fits = True  # no variable is set to two things that have other bounds
        across, up = (self.poly(p) for p in grid)
        assert across is not None and up is not None  # the host launches it
        self.largest |= {k.THREAD: {(): kernel.threads}, k.BLOCK: across, k.BLOCKS: across, k.BLOCK_Y: up}
        self.visit(kernel.body)

    # -- bounds

    def poly(self, p: Poly) -> Bound | None:
        total: Bound = {}
        for mono, coef in p.terms.items():
            term: Bound | None = {(): abs(coef)}
            for atom in mono:
                each = self.atom(atom)
                if each is None or term is None:
                    return None
                term = self.times(term, each)
            total = _plus(total, term or {})
        return total

    def atom(self, atom: Atom) -> Bound | None:
        if not isinstance(atom, Quot):
            return self.largest.get(atom)
        num, den = self.poly(atom.num), self.poly(atom.den)
        if num is None or den is None:
            return None
        self.needed += [num, den]
        if atom.den.const() is not None or atom.den.leaves() <= self.host:
            return _plus({(Ratio(tuple(num.items()), atom.den),): 1}, {(): 1})
        return _plus(num, {(): 1})

    def times(self, a: Bound, b: Bound) -> Bound:
        out: Bound = {}
        for x, c in a.items():
            for y, d in b.items():
                for key in (*x, *y):
                    self.order.setdefault(key, len(self.order))
                out = _plus(out, {tuple(sorted((*x, *y), key=self.order.__getitem__)): c * d})
        return out

    def place(self, buffer: lp.Buffer, index: Sequence[Poly]) -> None:
        """Of an element, row by row; a number alone has none."""
        total: Bound = {}
        for p, n in zip(index, (poly(1), *buffer.extents[1:])[: len(index)], strict=True):
            here, extent = self.poly(p), self.poly(n)
            if here is None or extent is None:
                return
            total = _plus(self.times(total, extent), here)
        self.needed.append(total)

    # -- statements

    def visit(self, stmts: Sequence[Any]) -> None:
        for s in stmts:
            match s:
                case lp.Let(var, value):
                    self.look(value)
                    found = self.of(var, value) if var.dtype is I64 else None
                    self.fits &= self.lets.setdefault(var, found) == found
                    if found is not None:
                        self.largest[var.atom] = found
                        self.needed.append(found)
                case lp.Declare(var, value):
                    self.look(value)
                    if var in self.ranges and isinstance(value, lp.Index) and (found := self.poly(self.ranges[var])) is not None:
                        self.largest[var.atom] = found
                        self.needed.append(found)
                case lp.For(sym, low, high, body):
                    first, last = self.poly(low), self.poly(high)
                    self.look((low, high))
                    if first is not None and last is not None:
                        self.largest[sym] = _plus(_plus(first, last), {(): 1})
                        self.needed.append(self.largest[sym])
                    self.visit(body)
                case lp.If(tests, then, orelse):
                    self.look(tests)
                    self.visit(then)
                    self.visit(orelse)
                case k.Region(body):
                    self.visit(body)
                case _:
                    self.look(s)

    def of(self, var: lp.Var, value: lp.Expr) -> Bound | None:
        match value:
            case lp.Use(other):
                return self.largest.get(other.atom) if other in self.ranges or other not in self.changed else None
            case lp.Const(number, _):
                return {(): max(1, abs(int(number)))}
            case lp.Call("min" | "max", (a, b), _):
                first, second = self.of(var, a), self.of(var, b)
                return _plus(first, second) if first is not None and second is not None else None
            case lp.Index(p):
                found = self.poly(p)
                return self.poly(self.ranges[var]) if found is not None and var in self.ranges else found
        return None

    def look(self, x: Any) -> None:
        """At all polynomials and places of elements in something."""
        if isinstance(x, Poly):
            found = self.poly(x)
            if found is not None:
                self.needed.append(found)
        elif isinstance(x, (tuple, list)):
            for item in x:
                self.look(item)
        elif is_dataclass(x) and not isinstance(x, (lp.Buffer, lp.Var, Site, lp.Origin)):
            if isinstance(x, (lp.Load, lp.Store, lp.Update)):
                self.place(x.buffer, x.index)
            for f in fields(x):
                if f.name not in ("dtype", "origin", "span", "buffer", "instance"):
                    self.look(getattr(x, f.name))


def _plus(a: Bound, b: Bound) -> Bound:
    return {m: a.get(m, 0) + b.get(m, 0) for m in {**a, **b}}


def _largest(bounds: list[Bound]) -> list[Bound]:
    """Those that no other one is term by term at least as large as."""
    kept: list[Bound] = []
    for b in bounds:
        if not any(all(other.get(m, 0) >= c for m, c in b.items()) for other in kept):
            kept = [o for o in kept if not all(b.get(m, 0) >= c for m, c in o.items())] + [b]
    return kept


def _expr(bound: Any) -> lp.Expr:
    """What the host computes."""
    total: lp.Expr | None = None
    for mono, coef in bound:
        factors = [*([lp.Const(float(coef), F64)] if coef != 1 or not mono else []), *map(_key, mono)]
        term = factors[0]
        for each in factors[1:]:
            term = lp.Call("mul", (term, each), F64)
        total = term if total is None else lp.Call("add", (total, term), F64)
    return total if total is not None else lp.Const(0.0, F64)


def _key(key: Key) -> lp.Expr:
    if isinstance(key, Ratio):
        by = key.den.const()
        least: lp.Expr = lp.Const(float(max(by or 1, 1)), F64)
        if by is None:
            least = lp.Call("max", (lp.Cast(lp.Index(key.den), F64), least), F64)
        return lp.Call("div", (_expr(key.num), least), F64)
    return lp.Call("max", (lp.Call("abs", (lp.Cast(lp.Index(poly(key)), F64),), F64), lp.Const(1.0, F64)), F64)  # a product with 0 in it was larger before


def with_narrow(launch: k.Launch, ranges: Mapping[lp.Var, Poly], limit: int | None = None) -> tuple[k.Kernel, lp.If] | None:
    """The kernel with narrow indices, and the choice between both versions; None where there is none."""
    kernel = launch.kernel
    if not all(isinstance(s, _KNOWN) for s in k.walk(kernel.body)):
        return None
    found = _Bounds(kernel, launch.grid, ranges)
    needed = _largest(found.needed)
    if not found.fits or not needed or len(needed) > MOST_BOUNDS:
        return None
    most = lp.Const(float(LIMIT if limit is None else limit), F64)
    tests = tuple(lp.Test("true", None, lp.Call("le", (_expr(b.items()), most), BOOL)) for b in needed)
    narrow = replace(kernel, name=f"{kernel.name}_32", narrow=frozenset(found.largest), note=f"{kernel.note}; indices of 32 bits")
    return narrow, lp.If(tests, [k.Launch(narrow, launch.grid)], [launch])  # type: ignore[list-item]


__all__ = ["LIMIT", "with_narrow"]
