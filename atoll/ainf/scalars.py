"""Scalar operations on operands: polynomials for integers that count, constant folding, and algebra that is exact in IEEE arithmetic.

Exact means: x*1, x/1, x-0, x+(-0), -(-x), select with equal branches. Not 0*x (NaN, infinities, the sign of zero), not x+0 (turns -0
into 0), not reassociation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.core.interpret import cast as cast_value
from atoll.core.meanings import DivisionByZero, NegativePower, NegativeShift
from atoll.core.portable import has_own
from atoll.core.prims import PRIMS
from atoll.errors import NOWHERE, Error, Span
from atoll.sizes import ZERO, Atom, Poly, Quot, floordiv, poly
from atoll.sizes.meeting import differ
from atoll.types.dtypes import BOOL, F32, I64, DType
from atoll.types.types import Scalar as ScalarType

_TERMS = 8
_RING = {"add", "sub", "mul", "neg"}


def as_poly(b: Builder, operand: ir.Operand) -> Poly | None:
    """An i64 operand as a polynomial."""
    if isinstance(operand, ir.IndexValue):
        return operand.poly
    if ir.operand_dtype(operand) is not I64:
        return None
    if isinstance(operand, ir.Const):
        return poly(int(operand.value))
    return poly(ir.ref_atom(operand))


def from_poly(p: Poly) -> ir.Operand:
    const = p.const()
    if const is not None:
        wrapped = (const + 2**63) % 2**64 - 2**63
        return ir.Const(wrapped, I64)
    atom = p.single()
    if isinstance(atom, ir.RefAtom):
        return atom.ref
    return ir.IndexValue(p)


def substituted(b: Builder, p: Poly, env: Mapping[Atom, Poly]) -> Poly:
    """The value of p with atoms replaced. Sums and products wrap around as they should; a quotient does not, so where what is divided may
    have wrapped around it is an operation of its own."""
    replace = dict(env)
    for atom in p.atoms():
        if isinstance(atom, Quot) and not env.keys().isdisjoint(atom.leaves()):
            num, den = substituted(b, atom.num, env), substituted(b, atom.den, env)
            if not (b.comparable(num) and b.comparable(den)):
                found = as_poly(b, op(b, "floordiv", (from_poly(num), from_poly(den)), I64, NOWHERE))
                assert found is not None
                replace[atom] = found
    return p.subst(replace)


def op(b: Builder, name: str, args: tuple[ir.Operand, ...], dtype: DType, span: Span) -> ir.Operand:
    """A primitive other than comparisons; `dtype` is the result's."""
    if not b.evaluate and dtype is not I64:
        return b.ref(ir.Op(name, args), ir.Result(dtype), span)
    simple: ir.Operand | None = _fold(b, name, args, dtype) if all(isinstance(a, ir.Const) for a in args) else None
    if simple is not None:
        return simple
    spelled = b.spelled and any(isinstance(a, ir.Ref) for a in args)
    if dtype is I64 and name in _RING and not spelled:
        counted = _ring(b, name, args)
        if counted is not None:
            return counted
    if dtype is I64 and name in ("floordiv", "mod") and not spelled:
        counted = _divide(b, name, args)
        if counted is not None:
            return counted
    simple = _identity(b, name, args, dtype)
    if simple is not None:
        return simple
    if PRIMS[name].commutes and len(args) == 2:
        args = _ordered(args)
    bound: Poly | None = None
    if dtype is I64 and name in ("min", "max"):
        x, y = as_poly(b, args[0]), as_poly(b, args[1])
        if x is not None and y is not None and b.trusted(x) and b.trusted(y):
            greater = b.greater(x, y)
            if greater is not None:
                return args[0] if greater == (name == "max") else args[1]
            bound = b.clamped(name, x, y)
    return b.ref(ir.Op(name, args), ir.Result(dtype, (), bound), span)


def _ordered(args: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
    """A canonical order for commutative operators: constants last, earlier lines first. (NaN payloads are not observed.)"""

    def rank(a: ir.Operand) -> tuple[int, int, str]:
        if isinstance(a, ir.Ref):
            return (0, a.line.id, repr(a.index))
        return (1, 0, repr(a)) if isinstance(a, ir.IndexValue) else (2, 0, repr(a))

    first, second = args
    if isinstance(first, ir.Ref) and isinstance(second, ir.Ref) and first.line is not second.line:
        return args if first.line.id < second.line.id else (second, first)
    return args if rank(first) <= rank(second) else (second, first)


def _fold(b: Builder, name: str, args: tuple[ir.Operand, ...], dtype: DType) -> ir.Const | None:
    if b.portable and has_own(name, ir.operand_dtype(args[-1])):  # NumPy's bits are this machine's
        return None
    values = []
    for a in args:
        assert isinstance(a, ir.Const)
        values.append(a.dtype.numpy.type(a.value))
    try:
        with np.errstate(all="ignore"):
            result = dtype.numpy.type(PRIMS[name].means(*values))
    except (DivisionByZero, NegativeShift, NegativePower):
        return None
    return constant(result, dtype)


def constant(value: Any, dtype: DType) -> ir.Const:
    number = value.item() if isinstance(value, np.generic) else value
    return ir.Const(number, dtype)


def _ring(b: Builder, name: str, args: tuple[ir.Operand, ...]) -> ir.Operand | None:
    polys = [as_poly(b, a) for a in args]
    if any(p is None or len(p.terms) > _TERMS for p in polys):
        return None
    x = polys[0]
    assert x is not None
    if name == "neg":
        return from_poly(-x)
    y = polys[1]
    assert y is not None
    if name == "mul":
        if x.const() is None and y.const() is None and not (b.trusted(x) and b.trusted(y)):
            return None
        result = x * y
        if result.degree() > 2 and not b.trusted(result):
            return None
    else:
        result = x + y if name == "add" else x - y
    return from_poly(result) if len(result.terms) <= _TERMS else None


def _divide(b: Builder, name: str, args: tuple[ir.Operand, ...]) -> ir.Operand | None:
    x, y = as_poly(b, args[0]), as_poly(b, args[1])
    if x is None or y is None or not b.trusted(x) or not b.trusted(y):
        return None
    context = b.context((x, y))
    if not context.proves(y - 1):
        return None
    quotient = context.simplify(floordiv(x, y))
    return from_poly(quotient if name == "floordiv" else x - quotient * y)


def _identity(b: Builder, name: str, args: tuple[ir.Operand, ...], dtype: DType) -> ir.Operand | None:
    def is_const(a: ir.Operand, value: Any) -> bool:
        return isinstance(a, ir.Const) and a.value == value and not (value == 0 and _negative_zero(a.value))

    first, second = args[0], args[-1]
    if name == "mul":
        if is_const(second, 1):
            return first
        if is_const(first, 1):
            return second
        if dtype.is_integer and (is_const(first, 0) or is_const(second, 0)):
            return ir.Const(0, dtype)
    elif name == "add":
        zero_ok = dtype.is_integer
        for x, y in ((first, second), (second, first)):
            if isinstance(y, ir.Const) and y.value == 0 and (zero_ok or (dtype.is_float and _negative_zero(y.value))):
                return x
    elif name == "sub":
        if is_const(second, 0) and (dtype.is_integer or dtype.is_float):
            return first
    elif name == "div":
        if is_const(second, 1):
            return first
    elif name == "neg":
        if _applies(first, "neg"):
            assert isinstance(first, ir.Ref)
            return definition_arg(first, 0)
    elif name in ("min", "max", "and", "or") and first == second:
        return first
    elif name in ("and", "or") and dtype is BOOL:
        for x, y in ((first, second), (second, first)):
            if isinstance(y, ir.Const):
                return x if y.value == (name == "and") else y
    elif name == "not":
        if _applies(first, "not"):
            assert isinstance(first, ir.Ref)
            return definition_arg(first, 0)
    return None


def _applies(operand: ir.Operand, name: str) -> bool:
    """True for an unconditional line that applies this operation."""
    if not isinstance(operand, ir.Ref) or operand.line.conds:
        return False
    return isinstance(operand.line.prim, ir.Op) and operand.line.prim.name == name


def _negative_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1, value) < 0


def definition_arg(ref: ir.Ref, k: int) -> ir.Operand:
    """Argument k of the operation a reference names, seen at its index."""
    prim = ref.line.prim
    assert isinstance(prim, ir.Op)
    return ir.subst_operand(prim.args[k], dict(zip(ref.line.dims, ref.index, strict=False)))


def cast(b: Builder, operand: ir.Operand, dtype: DType, span: Span) -> ir.Operand:
    """A conversion; the caller has checked that a float fits an integer type."""
    source = ir.operand_dtype(operand)
    if source is dtype:
        return operand
    if source.is_storage and dtype is F32 and isinstance(operand, ir.Ref) and isinstance(operand.line.prim, ir.Cast):
        whole = ir.subst_operand(operand.line.prim.arg, dict(zip(operand.line.dims, operand.index, strict=True)))
        if ir.operand_dtype(whole) is F32:  # what is stored and read again is rounded
            return b.ref(ir.Op(f"rounded_{source.name}", (whole,)), ir.Result(F32), span)
    if isinstance(operand, ir.Const):
        try:
            return constant(cast_value(source.numpy.type(operand.value), ScalarType(dtype)), dtype)
        except Error:
            pass
    return b.ref(ir.Cast(operand), ir.Result(dtype), span)


def compare(b: Builder, name: str, x: ir.Operand, y: ir.Operand, span: Span) -> ir.Cond | ir.Operand:
    """A comparison: a condition on polynomials where that means the same, otherwise a bool."""
    if isinstance(x, ir.Const) and isinstance(y, ir.Const):
        folded = _fold(b, name, (x, y), BOOL)
        if folded is not None:
            return folded
    p, q = as_poly(b, x), as_poly(b, y)
    if p is not None and q is not None and b.comparable(p) and b.comparable(q):
        d = p - q
        cond = {
            "lt": ir.Cond("ge", -d - 1),
            "le": ir.Cond("ge", -d),
            "gt": ir.Cond("ge", d - 1),
            "ge": ir.Cond("ge", d),
            "eq": ir.Cond("eq", d),
            "ne": ir.Cond("ne", d),
        }[name]
        return simplify_cond(b, cond)
    args = _ordered((x, y)) if name in ("eq", "ne") else (x, y)
    return b.ref(ir.Op(name, args), ir.Result(BOOL), span)


def simplify_cond(b: Builder, cond: ir.Cond) -> ir.Cond | ir.Const:
    """A condition on polynomials, decided where the facts decide it."""
    p = cond.poly
    assert p is not None
    context = b.context((p,))
    if cond.kind == "ge":
        if context.proves(p):
            return ir.Const(True, BOOL)
        if context.proves(-p - 1):
            return ir.Const(False, BOOL)
        return cond
    if not p.terms or (context.proves(p) and context.proves(-p)):
        return ir.Const(cond.kind == "eq", BOOL)
    if differ(p, ZERO, context):
        return ir.Const(cond.kind == "ne", BOOL)
    return cond


def select(b: Builder, conds: tuple[ir.Cond, ...], then: ir.Operand, orelse: ir.Operand, span: Span) -> ir.Operand:
    """then where all conditions hold, orelse elsewhere."""
    if then == orelse:
        return then
    dtype = ir.operand_dtype(then)
    if dtype is BOOL and isinstance(then, ir.Const) and isinstance(orelse, ir.Const) and len(conds) == 1:
        return b.truth(conds[0] if then.value else conds[0].negated(), span)
    return b.ref(ir.Select(conds, then, orelse), ir.Result(dtype), span)
