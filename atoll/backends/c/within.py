"""Indices that another thread may change while the program runs: arguments declared idx[n] are looked through before a call, and every element is taken
into range again where it is read, so that no read or write through it goes astray whatever happens to the array. One comparison; nothing is copied.

    k = i[j];  y[j] = x[k]        becomes        k = within(i[j], n);  y[j] = x[k]

What is copied or sorted as a whole is taken into range afterwards. An array that nobody changes is not changed by it. In C the element has one use, a
subtraction, so that a compiler which reads it twice instead of keeping it does no harm.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64


def guarded(fn: lp.Function) -> lp.Function:
    """The function with every element of an index argument taken into range."""
    bounds = {b: b.within for b in fn.inputs if isinstance(b, lp.Buffer) and b.within is not None}
    return dataclasses.replace(fn, body=_Guard(bounds).stmts(fn.body)) if bounds else fn


class _Guard:
    def __init__(self, bounds: dict[lp.Buffer, Poly]) -> None:
        self.bounds = bounds

    def stmts(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, lp.CopyBuffer) and stmt.source in self.bounds:
                out.append(self.whole(stmt.target, stmt.source, (poly(0),) * len(stmt.target.extents), stmt.target.extents, self.bounds[stmt.source]))
                continue
            out.append(self.visit(stmt))
            if isinstance(stmt, lp.Helper) and stmt.name in ("sort", "compress") and stmt.buffers[0][0] in self.bounds:
                to, first = stmt.buffers[-1]
                count = stmt.sizes[0] if stmt.result is None else poly(stmt.result.atom)
                extents = (*(poly(1) for _ in first[1:]), count)
                out.append(self.whole(to, to, first, extents, self.bounds[stmt.buffers[0][0]]))
        return out

    def visit(self, x: Any) -> Any:
        """A statement or expression with its loads guarded; what a matrix kernel is told stays."""
        if isinstance(x, lp.Load):
            return self.within(x, self.bounds[x.buffer]) if x.buffer in self.bounds else x
        if isinstance(x, list):
            return self.stmts(x)
        if isinstance(x, tuple):
            return tuple(self.visit(item) for item in x)
        if type(x) not in lp.FIELDS:
            return x
        changed = {name: self.visit(getattr(x, name)) for name in lp.FIELDS[type(x)] if not (isinstance(x, lp.Product) and name in ("left", "right", "target"))}
        return dataclasses.replace(x, **changed)

    def within(self, load: lp.Load, bound: Poly) -> lp.Expr:
        return lp.Call("within", (load, lp.Index(bound)), I64)

    def whole(self, to: lp.Buffer, source: lp.Buffer, first: tuple[Poly, ...], extents: tuple[Poly, ...], bound: Poly) -> lp.Stmt:
        """to[first + ...] = source[first + ...], each taken into range."""
        syms = [Sym(f"at_axis{k}") for k in range(len(extents))]
        place = tuple(p + poly(s) for p, s in zip(first, syms, strict=True))
        inner: lp.Stmt = lp.Store(to, place, self.within(lp.Load(source, place), bound))
        for sym, extent in reversed(list(zip(syms, extents, strict=True))):
            inner = lp.For(sym, poly(0), extent, [inner], parallel=True)
        return inner
