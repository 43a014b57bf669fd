"""How large the numbers are that counters and subscripts reach: a proof that a narrow type for them suffices.

Every polynomial that is printed is bounded by the sum of its terms without their signs, each variable at its largest: a loop index below its bound, a size at
itself. What is computed on the way to a subscript is a part of that sum, so it is below it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from atoll.loops import ir as lp
from atoll.madl.lowered import CopyPiece, Invoke, Lowered, LoweredOperator
from atoll.sizes import Atom, Poly, Quot, poly

if TYPE_CHECKING:
    from atoll.madl.c_file import CFile


def reach(file: CFile, op: LoweredOperator) -> Iterator[Poly]:
    """Bounds over the operator's own sizes, of everything its functions and what they call compute with indices."""
    for fn in (op.cycle, op.reset):
        if fn is not None:
            yield from _function(file, fn, {sym: poly(sym) for sym in fn.sizes})


def _function(file: CFile, fn: Lowered, sizes: dict[Atom, Poly]) -> Iterator[Poly]:
    yield from sizes.values()
    yield from _body(file, fn, fn.body, dict(sizes))


def _body(file: CFile, fn: Lowered, body: Sequence[Any], env: dict[Atom, Poly]) -> Iterator[Poly]:
    for stmt in body:
        match stmt:
            case lp.For(sym, low, high, inner):
                top = most(high, env)
                yield top
                yield most(low, env)
                yield from _body(file, fn, inner, {**env, sym: top})
            case lp.If(tests, then, orelse):
                for t in tests:
                    yield from _expr(t.expr, env) if t.expr is not None else ()
                yield from _body(file, fn, then, env)
                yield from _body(file, fn, orelse, env)
            case lp.Store(buffer, index, value) | lp.Update(buffer, index, _, value):
                yield from _place(buffer, index, env)
                yield from _expr(value, env)
            case lp.Let(var, value):
                yield from _expr(value, env)
                env[var.atom] = most(fn.limits.get(var.atom, poly(0)), env)
            case CopyPiece(target, at, source, there, count):
                yield from _place(target, at, env)
                yield from _place(source, there, env)
                yield most(count, env)
            case Invoke(function, given, args):
                for a in args:
                    yield from _place(a.buffer, a.index, env)
                yield from _call(file, function, [most(p, env) for p in given])


def _call(file: CFile, function: Any, given: list[Poly]) -> Iterator[Poly]:
    if function.scheme.compiled is None:
        yield from given  # an Atoll function counts with 64 bits
        return
    callee = file.lowered.operator(function.scheme.compiled, function.types)
    fn = callee.cycle if function.part == "cycle" else callee.reset
    if fn is not None:
        yield from _function(file, fn, dict(zip(fn.sizes, given, strict=True)))


def _place(buffer: lp.Buffer, index: tuple[Poly, ...], env: dict[Atom, Poly]) -> Iterator[Poly]:
    total, cells = poly(0), poly(1)
    for i, n in zip(index, buffer.extents, strict=True):
        total = total * most(n, env) + most(i, env)
        cells = cells * most(n, env)
    yield total
    yield cells


def _expr(e: lp.Expr, env: dict[Atom, Poly]) -> Iterator[Poly]:
    for x in lp.subexprs(e):
        match x:
            case lp.Load(buffer, index):
                yield from _place(buffer, index, env)
            case lp.Index(p):
                yield most(p, env)


def most(p: Poly, env: dict[Atom, Poly]) -> Poly:
    """The polynomial without signs, at the largest values of its variables."""
    total = poly(0)
    for mono, coef in p.terms.items():
        term = poly(abs(coef))
        for atom in mono:
            term = term * (most(atom.num, env) if isinstance(atom, Quot) else env[atom])
        total = total + term
    return total
