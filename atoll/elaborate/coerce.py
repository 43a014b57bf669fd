"""Bringing values to a common or a required type (docs/reference.md section 9).

Weak values (literals and what is made of them) take the type of what they meet. A strong value changes type by itself only where
an operator would change it anyway: x becomes t when x ∘ t is t. Everything narrower needs a written conversion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from atoll.core import ir
from atoll.elaborate.decay import leaving, plain
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.errors import Span, fail
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, C128, F32, F64, I64, DType, fits, promote
from atoll.types.types import (
    MOST_PARTS,
    Array,
    Fn,
    Index,
    Record,
    Scalar,
    Tuple,
    Type,
    Union,
    components,
    has_more_parts,
    rank,
    shape_of,
    strong,
    told_apart,
    with_components,
)


def scalar_dtype(t: Type) -> DType:
    assert isinstance(t, (Scalar, Index)), t
    return t.dtype


def is_weak(t: Type) -> int:
    return t.weak if isinstance(t, Scalar) else 0


def common(a: Type, b: Type) -> Scalar | None:
    """The scalar type two scalars make together, weakness included; None when they are refused."""
    x, y = scalar_dtype(a), scalar_dtype(b)
    if is_weak(a) == 2 or is_weak(b) == 2:
        return Scalar(x, is_weak(a)) if is_weak(b) == 2 else Scalar(y, is_weak(b))
    if is_weak(a) == is_weak(b):
        both = promote(x, y)
        return None if both is None else Scalar(both, weak=is_weak(a))
    weak, firm = (x, y) if is_weak(a) else (y, x)
    return Scalar(_meet(weak, firm))


def _meet(weak: DType, firm: DType) -> DType:
    """The type of a literal of kind `weak` together with a strong `firm`."""
    order = "biufc"
    if weak is BOOL:
        return firm
    if firm is BOOL:
        return weak
    if weak.is_integer:
        return firm
    if weak.is_float:
        return firm if order.index(firm.kind) >= order.index("f") else F64
    return firm if firm.is_complex else firm.complex_of() if firm.is_float else C128


def to_dtype(el: Elaborator, value: Value, dtype: DType, span: Span) -> Value:
    """A scalar value as this dtype (any conversion; the caller has decided that it is allowed)."""
    t = Scalar(dtype)
    expr = value.expr
    if scalar_dtype(value.type) is dtype and not is_weak(value.type):
        return value
    if isinstance(expr, ir.Lit) and is_weak(value.type):
        number: bool | int | float | complex = expr.value
        if not fits(number, dtype) and not (isinstance(number, bool) and dtype is not BOOL):
            whole = isinstance(number, float) and math.isfinite(number) and dtype.is_integer
            el.fail("E0212", span, value=number, dtype=dtype.name, help=f"write {dtype.name}({number}), or make the array one of floats" if whole else None)
        if dtype.is_float:
            number = float(number.real)
        elif dtype.is_complex:
            number = complex(number)
        elif dtype.is_integer:
            number = int(number.real)
        return Value(ir.Lit(number, type=t, span=expr.span), t, value.poly if dtype is I64 else None)
    if scalar_dtype(expr.type) is dtype:
        return Value(expr, t, value.poly)
    return Value(ir.Cast(expr, type=t, span=span), t)


def convert(el: Elaborator, value: Value, dtype: DType, span: Span) -> Value:
    """Like to_dtype, for arrays and tuples element by element. A storage type rounds."""
    if isinstance(value.type, (Scalar, Index)):
        if dtype.is_storage:
            return Value(ir.Prim(f"rounded_{dtype.name}", (to_dtype(el, value, F32, span).expr,), type=Scalar(F32), span=span), Scalar(F32))
        return to_dtype(el, value, dtype, span)
    if isinstance(value.type, Array):
        if _element_dtype(value.expr.type) is dtype:
            return Value(value.expr, strong(_retype(value.type, dtype)))
        return over_array(el, value, lambda x: convert(el, x, dtype, span))
    if isinstance(value.type, (Tuple, Record)):
        parts = [convert(el, p, dtype, span) for p in project_all(el, value)]
        return make_tuple(parts, value.type, span)
    el.fail("E0203", span, what=f"{dtype.name}(...)", found=el.show(value.type))


def _element_dtype(t: Type) -> DType | None:
    _, elem = shape_of(t)
    return elem.dtype if isinstance(elem, Scalar) else None


def _retype(t: Type, dtype: DType) -> Type:
    return Array(_retype(t.elem, dtype), t.size) if isinstance(t, Array) else Scalar(dtype)


def over_array(el: Elaborator, value: Value, f: Callable[[Value], Value], name: str = "x") -> Value:
    """map f over the outermost axis."""
    assert isinstance(value.type, Array)
    return map_arrays(el, [value], lambda xs: f(xs[0]), [name])


def map_arrays(
    el: Elaborator, arrays: Sequence[Value], f: Callable[[list[Value]], Value], names: Sequence[str] | None = None
) -> Value:
    """map f over the outermost axes of arrays of one size."""
    first = arrays[0].type
    assert isinstance(first, Array)
    syms = [Sym(n) for n in (names or ["x"] * len(arrays))]
    params = []
    for sym, a in zip(syms, arrays, strict=True):
        assert isinstance(a.type, Array) and isinstance(a.expr.type, Array)
        params.append(element_value(el, sym, a.expr.type.elem, a.type.elem))
    el.level += 1
    with el.block(), el.hypotheses(lazy=False):
        result = leaving(el, f(params), syms)
        body = el.close(result.expr, *syms)
    el.level -= 1
    t = Array(result.type, first.size)
    expr = ir.Map(
        tuple(syms), tuple(a.expr for a in arrays), body, type=Array(result.expr.type, first.size), span=result.expr.span
    )
    return Value(expr, t)


def element_value(el: Elaborator, sym: Sym, core_type: Type, t: Type) -> Value:
    """The value of a lambda's parameter; an i64 parameter is immutable and so can be a size."""
    known = None
    if isinstance(t, Index) or (isinstance(t, Scalar) and t.dtype is I64 and t.weak != 2):
        known = poly(sym)
        el.solver.rigid[sym] = el.level + 1
    return Value(ir.Var(sym, type=core_type), t, known)


def project(value: Value, index: int) -> Value:
    """Component `index` of a tuple or record."""
    items = components(value.type)
    if isinstance(value.expr, ir.MakeTuple):
        part = value.expr.items[index]
    else:
        part = ir.Proj(value.expr, index, type=components(value.expr.type)[index], span=value.expr.span)
    return Value(part, items[index], known_poly(part, items[index]))


def known_poly(e: ir.Expr, t: Type) -> Poly | None:
    """The polynomial an integer expression is, when it shows."""
    if not isinstance(t, (Scalar, Index)) or t.dtype is not I64:
        return None
    if isinstance(e, ir.SizeOf):
        return e.poly
    if isinstance(e, ir.Lit):
        return poly(int(e.value.real))
    return poly(e.sym) if isinstance(e, ir.Var) else None


def project_all(el: Elaborator, value: Value) -> list[Value]:
    if not isinstance(value.expr, ir.MakeTuple):
        value = el.bind(value)
    return [project(value, k) for k in range(len(components(value.type)))]


def make_tuple(parts: Sequence[Value], like: Type | None, span: Span) -> Value:
    """A tuple, or a record when `like` is one."""
    items = tuple(p.type for p in parts)
    core_items = tuple(p.expr.type for p in parts)
    t = with_components(like, items) if like is not None else Tuple(items)
    if has_more_parts(t, MOST_PARTS):
        fail("E0130", span, limit=f"{MOST_PARTS:,}")
    core_type = with_components(like, core_items) if like is not None else Tuple(core_items)
    return Value(ir.MakeTuple(tuple(p.expr for p in parts), type=core_type, span=span), t)


def array_of(el: Elaborator, items: list[Value], span: Span) -> Value:
    """[a, b, c]: an array of values."""
    t = items[0].type
    for item in items[1:]:
        t = join_types(el, t, item.type, span, "the items of the array")
    parts = [coerce(el, item, strong(t), span, "an item of the array") for item in items]
    size = el.size_value(poly(len(items))).poly
    assert size is not None
    out = ir.MakeArray(tuple(p.expr for p in parts), type=Array(parts[0].expr.type, size), span=span)
    return Value(out, Array(t, size))


def coerce(el: Elaborator, value: Value, wanted: Type, span: Span, what: str) -> Value:
    """The value as exactly this type, or the error that says what did not fit. Sizes are equated, not compared."""
    t = value.type
    if isinstance(wanted, Union):
        from atoll.elaborate.data import to_union

        return to_union(el, value, wanted, span, what)
    if isinstance(wanted, Fn) and isinstance(t, Fn) and len(wanted.params) == len(t.params):
        el.same_structure(wanted, t, span, what)
        return value
    if isinstance(wanted, Scalar) and wanted.dtype.is_storage and isinstance(t, Scalar) and (is_weak(t) or t.dtype is F32):
        return to_dtype(el, to_dtype(el, value, F32, span), wanted.dtype, span)  # what is stored is rounded
    if isinstance(wanted, Scalar) and isinstance(t, Index) and wanted.dtype is I64:
        return plain(value)  # in the term too: beside another integer it is an index no longer
    if isinstance(wanted, Scalar) and isinstance(t, (Scalar, Index)):
        if is_weak(t):
            if isinstance(value.expr, ir.Lit):
                return to_dtype(el, value, wanted.dtype, span)
            if (isinstance(t, Scalar) and t.weak == 2) or "biufc".index(t.dtype.kind) <= "biufc".index(wanted.dtype.kind):
                return to_dtype(el, value, wanted.dtype, span)
        elif promote(t.dtype, wanted.dtype) is wanted.dtype:
            return to_dtype(el, value, wanted.dtype, span)
        el.fail("E0201", span, what=what, expected=repr(wanted), found=el.show(t), help=_narrow(wanted, t))
    if isinstance(wanted, Index) and isinstance(t, (Scalar, Index)):
        return _to_index(el, value, wanted, span, what)
    if isinstance(wanted, Array) and isinstance(t, Array):
        return _coerce_array(el, value, wanted, span, what)
    if isinstance(wanted, (Tuple, Record)) and isinstance(t, (Tuple, Record)) and len(wanted.items) == len(t.items):
        if isinstance(wanted, Record) and not (isinstance(t, Record) and t.decl == wanted.decl):
            el.fail("E0201", span, what=what, expected=repr(wanted), found=el.show(t))
        parts = [
            coerce(el, part, item, span, what) for part, item in zip(project_all(el, value), wanted.items, strict=True)
        ]
        return make_tuple(parts, wanted, span)
    if t == wanted:
        return value
    el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(t), help=_rank_help(wanted, t))


def _narrow(wanted: Scalar, found: Type) -> str | None:
    return f"write {wanted!r}(...) to convert" if isinstance(found, (Scalar, Index)) else None


def _rank_help(wanted: Type, found: Type) -> str | None:
    if rank(wanted) != rank(found) and not isinstance(wanted, (Tuple, Fn)):
        return f"expected {count_axes(rank(wanted))}, found {count_axes(rank(found))}"
    return None


def count_axes(n: int) -> str:
    return "a scalar" if n == 0 else f"{n} axis" if n == 1 else f"{n} axes"


def _to_index(el: Elaborator, value: Value, wanted: Index, span: Span, what: str) -> Value:
    """An integer as idx[n]: the same index type, or a number proved or checked to lie in range."""
    if isinstance(value.type, Index):
        if value.type.size == wanted.size:
            return value
    elif not (isinstance(value.type, Scalar) and value.type.dtype.is_integer):
        el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(value.type))
    number = to_dtype(el, value, I64, span) if not isinstance(value.type, Index) else value
    p = el.as_poly(number, span)
    text = span.text() or what
    el.require(p, text, span)
    el.require(wanted.size - 1 - p, text, span)
    return Value(ir.SizeOf(p, type=wanted, span=span), wanted, p)


def _coerce_array(el: Elaborator, value: Value, wanted: Array, span: Span, what: str) -> Value:
    t = value.type
    if rank(wanted) != rank(t):
        el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(t), help=_rank_help(wanted, t))
    sizes_w, elem_w = shape_of(wanted)
    sizes_t, elem_t = shape_of(t)
    why = Mismatch(span, wanted, t, what, el.facts)
    for a, b in zip(sizes_w, sizes_t, strict=True):
        el.equate(a, b, why)
    if isinstance(elem_w, Scalar) and isinstance(elem_t, Scalar) and elem_w.dtype is elem_t.dtype:
        return Value(value.expr, wanted) if elem_t.weak else value
    if elem_w == elem_t:
        return value
    if isinstance(elem_t, Index) and elem_w == Scalar(I64):
        return plain(value)
    stored = isinstance(elem_w, Scalar) and elem_w.dtype.is_storage and isinstance(elem_t, Scalar) and (is_weak(elem_t) or elem_t.dtype is F32)
    if isinstance(elem_w, Scalar) and isinstance(elem_t, (Scalar, Index)) and not stored:
        weak_ok = is_weak(elem_t) == 2 or (
            is_weak(elem_t) and "biufc".index(elem_t.dtype.kind) <= "biufc".index(elem_w.dtype.kind)
        )
        if not weak_ok and promote(elem_t.dtype, elem_w.dtype) is not elem_w.dtype:
            help_ = f"write {elem_w!r}(...) to convert"
            el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(t), help=help_)
    return over_array(el, value, lambda x: coerce(el, x, wanted.elem, span, what))


def unify(el: Elaborator, a: Value, b: Value, span: Span, what: str) -> tuple[Value, Value]:
    """Both values as one common type: the branches of an `if`, the items of a display."""
    t = join_types(el, a.type, b.type, span, what)
    return _as_joined(el, a, t, span, what), _as_joined(el, b, t, span, what)


def _as_joined(el: Elaborator, value: Value, t: Type, span: Span, what: str) -> Value:
    result = coerce(el, value, strong(t), span, what)
    return Value(result.expr, t, result.poly)


def join_types(el: Elaborator, a: Type, b: Type, span: Span, what: str) -> Type:
    """The type both fit, or an error; sizes are equated."""
    if isinstance(a, (Union, Record)) and isinstance(b, (Union, Record)):
        from atoll.elaborate.data import join

        met = join(el, a, b, span, what)
        if met is not None:
            return met
    if isinstance(a, Index) and isinstance(b, Index) and a.size == b.size:
        return a
    if isinstance(a, (Scalar, Index)) and isinstance(b, (Scalar, Index)):
        both = common(a, b)
        blank = is_weak(a) == 2 or is_weak(b) == 2
        if both is None or (not blank and (scalar_dtype(a) is BOOL) != (scalar_dtype(b) is BOOL)):
            el.fail("E0202", span, what=what, first=el.show(a), second=el.show(b))
        return both
    if isinstance(a, Array) and isinstance(b, Array) and rank(a) == rank(b):
        el.equate(a.size, b.size, Mismatch(span, a, b, what, el.facts))
        return Array(join_types(el, a.elem, b.elem, span, what), a.size)
    if isinstance(a, (Tuple, Record)) and isinstance(b, (Tuple, Record)) and len(a.items) == len(b.items):
        if not (isinstance(a, Record) or isinstance(b, Record)) or (
            isinstance(a, Record) and isinstance(b, Record) and a.decl == b.decl
        ):
            items = [join_types(el, x, y, span, what) for x, y in zip(a.items, b.items, strict=True)]
            return with_components(a, items)
    if a == b:
        return a
    first, second = told_apart(a, b, el.show)
    el.fail("E0202", span, what=what, first=first, second=second, help=_one_has_fewer_axes(a, b, what))


def _one_has_fewer_axes(a: Type, b: Type, what: str) -> str | None:
    if not isinstance(shape_of(a)[1], Scalar) or not isinstance(shape_of(b)[1], Scalar):
        return None
    if what.startswith("the items"):
        return "the items of one array have one shape; write a tuple, (a, b), for values of different shapes"
    few = "the number" if 0 in (rank(a), rank(b)) else "the one with fewer axes"
    return f"repeat {few} to the shape of the other: rep(...)"


def zero(el: Elaborator, t: Type, span: Span) -> ir.Expr:
    """A value of this type nobody looks at."""
    if isinstance(t, Scalar):
        value: bool | int | float = False if t.dtype is BOOL else 0 if t.dtype.is_integer else 0.0
        return ir.Lit(value, type=Scalar(t.dtype), span=span)
    if isinstance(t, Index):
        return ir.Lit(0, type=Scalar(I64), span=span)
    if isinstance(t, Array):
        inner = zero(el, t.elem, span)
        return ir.View("repeat", (t.size,), (inner,), type=Array(inner.type, t.size), span=span)
    if isinstance(t, (Tuple, Record)):
        parts = tuple(zero(el, item, span) for item in t.items)
        return ir.MakeTuple(parts, type=with_components(t, [p.type for p in parts]), span=span)
    if isinstance(t, Union):
        for k, member in enumerate(t.decl.members):
            if member is None or not t.decl.member(t, k).items:
                return ir.Inject(k, (), type=t, span=span)
    el.fail("E0215", span, found=el.show(t))
