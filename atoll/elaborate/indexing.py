"""Reading and replacing parts of arrays, tuples and records: a[i], a[lo:hi:step], a[i] = v, p.x = v."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

from atoll.core import ir
from atoll.core.slices import slice_type
from atoll.elaborate import entities as en
from atoll.elaborate import index_arrays
from atoll.elaborate.arithmetic import binary, unary_math
from atoll.elaborate.broadcasting import stretched
from atoll.elaborate.builtins.iterate import stepping
from atoll.elaborate.builtins.reshape import transpose
from atoll.elaborate.coerce import (
    array_of,
    coerce,
    common,
    convert,
    element_value,
    make_tuple,
    map_arrays,
    project,
    project_all,
    scalar_dtype,
    to_dtype,
)
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.data import field
from atoll.elaborate.decay import beside
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.errors import AliasWarning, Span
from atoll.sizes import Poly, Sym, cdiv, poly
from atoll.surface import syntax as s
from atoll.types.dtypes import I64
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, Union, array, rank, shape_of


def read(el: Elaborator, value: Any, node: s.Subscript) -> Any:
    """value[items]"""
    from atoll.elaborate.expressions import expr

    if isinstance(value, en.TupleEntity):
        return value.items[_literal_index(el, node, len(value.items))]
    if isinstance(value, Value) and isinstance(value.type, Tuple) and (part := _literal_slice(node)) is not None:
        return make_tuple(project_all(el, el.bind(value))[part], None, node.span)
    if isinstance(value, en.TypeRef):
        el.fail("E0220", node.span, text=node.span.text())
    if not isinstance(value, Value):
        el.fail("E0216", node.span, found=describe(value))
    if isinstance(value.type, (Tuple, Record)):
        return project(value, _literal_index(el, node, len(value.type.items)))
    if not isinstance(value.type, Array):
        el.fail("E0216", node.span, found=el.show(value.type))
    return index_arrays.read(el, el.bind(value), node, expr)


def _literal_slice(node: s.Subscript) -> slice | None:
    """t[1:], t[::-1]: bounds that are written as numbers."""
    if len(node.items) != 1 or not isinstance(node.items[0], s.Slice):
        return None
    item = node.items[0]
    bounds = [_written(bound) for bound in (item.low, item.high, item.step)]
    return None if "unknown" in bounds else slice(*bounds)


def _written(bound: s.Expr | None) -> Any:
    if bound is None:
        return None
    if isinstance(bound, s.Num) and isinstance(bound.value, int):
        return bound.value
    if isinstance(bound, s.Unary) and bound.op == "-" and isinstance(bound.value, s.Num) and isinstance(bound.value.value, int):
        return -bound.value.value
    return "unknown"


def _literal_index(el: Elaborator, node: s.Subscript, n: int) -> int:
    if len(node.items) == 1 and isinstance(node.items[0], s.Num) and isinstance(node.items[0].value, int):
        index = node.items[0].value
        if -n <= index < n:
            return index % n
        el.fail("E0217", node.span, index=index, size=n)
    el.fail("E0218", node.span)


def _counted(el: Elaborator, size: Poly, node: s.Expr, expr: Any) -> Any:
    """An index or bound; a negative literal, minus a size, or minus what is known to be 1 or more, counts from the end."""
    if isinstance(node, s.Num) and isinstance(node.value, int) and not isinstance(node.value, bool) and node.value < 0:
        return el.size_value(size + node.value, node.span)
    if isinstance(node, s.Unary) and node.op == "-":
        inner = expr(el, node.value)
        if isinstance(inner, Value) and inner.poly is not None and _counts(el, inner.poly):
            return el.size_value(size - inner.poly, node.span)
    return expr(el, node)


def _counts(el: Elaborator, p: Poly) -> bool:
    """Minus this counts from the end."""
    return _is_size(el, p) or (p.const() is None and el.facts.proves(p - 1))


def _only_sizes_count(el: Elaborator, side: s.Unary, whole: Span) -> NoReturn:
    """x[:-j] of an integer that is no size: it may be 0, for which NumPy means something else."""
    text, bound = whole.text(), side.value.span.text()
    base = text.partition("[")[0] if text.partition("[")[0].isidentifier() else "x"
    end = f"len({base}) - {bound if bound.isidentifier() else f'({bound})'}"
    el.fail("E0265", side.span, name=text or "the slice", what="a bound that is minus a variable", help=f"write {end} in its place, which counts from the end")


def _is_size(el: Elaborator, p: Poly) -> bool:
    """Made of sizes: declared ones, and integer parameters that are sizes in the signature, which are checked not to be negative."""
    return all(leaf in el.entry_sizes or (leaf in el.session.bounded and leaf not in el.solver.rigid) for leaf in p.leaves())


def is_stepped(node: s.Slice) -> bool:
    """Whether only running decides the step of a slice."""
    return not (node.step is None or isinstance(node.step, s.NoneValue) or (isinstance(node.step, s.Num) and isinstance(node.step.value, int)))


def stepped_places(el: Elaborator, size: Poly, node: s.Slice, expr: Any) -> Value:
    """The indices that a slice with such a step goes through; each is checked where it is used."""
    def bound(side: s.Expr | None) -> Poly | None:
        return None if side is None or isinstance(side, s.NoneValue) else el.as_poly(_counted(el, size, side, expr), side.span, "a slice bound")

    assert node.step is not None
    step = el.as_poly(expr(el, node.step), node.step.span, "a step")
    found = stepping(el, bound(node.low), bound(node.high), step, node.span, size)

    def place(index: Value) -> Value:
        number = found.element(el, index)
        assert isinstance(number, Value)
        return number

    return el.bind(build_array(el, found.size, "i", place, node.span))


def _range(el: Elaborator, size: Poly, node: s.Slice, whole: Span, expr: Any) -> ir.Range:
    step = 1
    if node.step is not None:
        assert isinstance(node.step, s.Num) and isinstance(node.step.value, int)
        step = node.step.value
        if step == 0:
            el.fail("E0223", node.step.span)

    def bound(side: s.Expr | None, default: Poly) -> Poly:
        if side is None or isinstance(side, s.NoneValue):
            return default
        found = el.as_poly(_counted(el, size, side, expr), side.span, "a slice bound")
        if isinstance(side, s.Unary) and side.op == "-" and found.const() is None and not el.facts.proves(found) and found == -el.as_poly(expr(el, side.value), side.span, "a slice bound"):
            _only_sizes_count(el, side, whole)
        return found

    text = whole.text() or "the slice"
    if step > 0:
        low, high = bound(node.low, poly(0)), bound(node.high, size)
        count = high - low
        el.require(low, text, whole)
        el.require(size - high, text, whole)
    else:
        low, high = bound(node.low, size - 1), bound(node.high, poly(-1))
        count = low - high
        el.require(high + 1, text, whole)
        el.require(size - 1 - low, text, whole)
    el.require(count, text, whole)
    extent = count if abs(step) == 1 else cdiv(count, abs(step))
    return ir.Range(low, step, extent)


def _as_i64(el: Elaborator, index: Value, span: Span) -> Value:
    return index if isinstance(index.type, Index) else to_dtype(el, index, I64, span)


def _read(value: Value, items: list[ir.Item], span: Span) -> Value:
    if all(not isinstance(item, ir.Range) for item in items):
        for item in items:
            assert isinstance(value.type, Array) and isinstance(value.expr.type, Array)
            expr = ir.At(value.expr, item, type=value.expr.type.elem, span=span)  # type: ignore[arg-type]
            value = Value(expr, value.type.elem)
        return value
    t, core_type = slice_type(value.type, items), slice_type(value.expr.type, items)
    return Value(ir.Slice(value.expr, tuple(items), type=core_type, span=span), t)


# -- replacing

_PART = "an assignment to a part of"


def assign(el: Elaborator, target: s.Target, value: Any, span: Span, part: str = "") -> None:
    """target = value; `part` says what changed where it is not the target itself: a part of what it is, or its elements, by a word of NumPy."""
    from atoll.elaborate.statements import bind_name

    match target:
        case s.Name(id):
            bind_name(el, id, value)
        case s.TupleTarget(items):
            for item, each in zip(items, unpack(el, value, len(items), target.span), strict=True):
                assign(el, item, each, span)
        case s.Subscript(base, _):
            assign(el, _as_target(el, base), _replaced(el, target, value, part), span, part=_PART)
        case s.Attr(base, name):
            assign(el, _as_target(el, base), _with_field(el, base, name, value, target.span), span, part=_PART)


def _as_target(el: Elaborator, node: s.Expr) -> s.Target:
    if isinstance(node, (s.Name, s.Subscript, s.Attr)):
        return node
    el.fail("E0224", node.span)


def unpack(el: Elaborator, value: Any, count: int, span: Span) -> list[Any]:
    """The parts of a tuple, a record or an array of literal size."""
    parts: list[Any] | None = None
    if isinstance(value, en.TupleEntity):
        parts = list(value.items)
    elif isinstance(value, Value) and isinstance(value.type, (Tuple, Record)):
        parts = list(project_all(el, value))
    elif isinstance(value, Value) and isinstance(value.type, Array):
        n = el.solver.resolve(value.type.size).const()
        if n is None:
            el.fail("E0225", span, found=el.show(value.type))
        value = el.bind(value)
        zero_to = [el.size_value(poly(k), span).expr for k in range(n)]
        parts = [_read(value, [index], span) for index in zero_to]
    if parts is None:
        el.fail("E0226", span, found=el.show(value.type) if isinstance(value, Value) else describe(value))
    if len(parts) != count:
        el.fail("E0227", span, count=count, found=len(parts))
    return parts


def _replaced(el: Elaborator, target: s.Subscript, value: Any, part: str) -> Any:
    from atoll.elaborate.expressions import expr

    base = expr(el, target.value)
    if isinstance(base, en.Unbound) or not isinstance(base, Value):
        el.fail("E0216", target.span, found=describe(base))
    _warn_alias(el, target, base)
    if isinstance(base.type, (Tuple, Record)):
        position = _literal_index(el, target, len(base.type.items))
        return _with_part(el, base, position, value, target.span)
    if not isinstance(base.type, Array):
        el.fail("E0216", target.span, found=el.show(base.type))
    base = el.bind(base)
    found = index_arrays.items_of(el, target, expr)
    if index_arrays.only_mask(found):
        _not_part(el, target, part)
        return index_arrays.assign_mask(el, base, el.bind(found[0].what), _as_assigned(el, base, value, target.span), target.span)
    axes = index_arrays.parse_items(el, base, target, found, expr)
    if any(axis.new for axis in axes):
        el.fail("E0219", target.span, what="None in the index of an assignment", help="leave None out: the value is repeated along leading axes by itself")
    if any(axis.stepped for axis in axes):
        index_arrays.check_stepped(el, axes, target.span)
    if any(axis.many for axis in axes):
        _not_part(el, target, part)
        return index_arrays.assign_many(el, base, axes, _as_assigned(el, base, value, target.span), target.span)
    items: list[ir.Item] = [
        axis.range if axis.range is not None else _as_i64(el, axis.index, axis.span).expr  # type: ignore[arg-type]
        for axis in axes
    ]
    return update(el, base, items, value, target.span)


def _not_part(el: Elaborator, target: s.Subscript, part: str) -> None:
    """`a[mask][0] = v` and `a[mask].sort()` change a copy in NumPy, and a not at all."""
    if part:
        text = target.span.text() or "x[i]"
        what = f"{part} {text}, which is a copy in NumPy,"
        if part == _PART:
            help = f"put all indices into one pair of brackets, or give the copy a name: part = {text}, then part[...] = ..."
        else:
            help = f"give the copy a name and change that: part = {text}; {text} = part puts it back"
        el.fail("E0219", target.span, what=what, help=help)


def _as_assigned(el: Elaborator, base: Value, value: Any, span: Span) -> Value:
    """What is put into an array; a tuple is a row of an array of numbers, as NumPy reads it."""
    if not isinstance(value, Value):
        el.fail("E0228", span, found=describe(value))
    if isinstance(shape_of(base.type)[1], (Scalar, Index)):
        return _as_row(el, value, span)
    return value


def _as_row(el: Elaborator, value: Value, span: Span) -> Value:
    if not isinstance(value.type, Tuple) or not value.type.items:
        return value
    return el.bind(array_of(el, [_as_row(el, part, span) for part in project_all(el, value)], span))


def update(el: Elaborator, base: Value, items: list[ir.Item], value: Any, span: Span) -> Value:
    """A copy of base with base[items] = value. A weak array takes the type of what is put into it."""
    value = _as_assigned(el, base, value, span)
    base = beside(el, _meet_weak(el, base, value.type, span), value)
    wanted = slice_type(base.type, items)
    value = stretched(el, value, shape_of(wanted)[0], span) if value.ones else value
    new = repeat_into(value, wanted, span)
    new = coerce(el, new, wanted, span, "the assigned value")
    put = new.expr
    if wanted == base.type and isinstance(put, ir.Var):  # b[:] = a writes a copy of a
        put = ir.Copy(put, type=put.type, span=span)
    expr = ir.Update(base.expr, tuple(items), put, type=base.expr.type, span=span)
    return Value(expr, base.type)


def _meet_weak(el: Elaborator, base: Value, new: Type, span: Span) -> Value:
    sizes, elem = shape_of(base.type)
    _, other = shape_of(new)
    if isinstance(elem, Scalar) and elem.weak and isinstance(other, (Scalar, Index)):
        both = common(elem, other)
        if both is not None:
            if both.weak:
                return convert_weak(el, base, both, sizes, span)
            return convert(el, base, both.dtype, span)
    return base


def convert_weak(el: Elaborator, base: Value, both: Scalar, sizes: tuple[Poly, ...], span: Span) -> Value:
    changed = convert(el, base, both.dtype, span)
    return Value(changed.expr, array(both, sizes))


def repeat_into(value: Value, wanted: Type, span: Span) -> Value:
    """The value repeated along leading axes until it has the wanted rank."""
    sizes, _ = shape_of(wanted)
    missing = rank(wanted) - rank(value.type)
    if missing < 0:
        return value
    for size in reversed(sizes[:missing]):
        expr = ir.View("repeat", (size,), (value.expr,), type=Array(value.expr.type, size), span=span)
        value = Value(expr, Array(value.type, size))
    return value


def _with_part(el: Elaborator, base: Value, position: int, value: Any, span: Span) -> Value:
    if not isinstance(value, Value):
        el.fail("E0228", span, found=describe(value))
    parts = project_all(el, base)
    if not isinstance(base.type, Record):
        parts[position] = value
    else:
        parts[position] = coerce(el, value, base.type.items[position], span, "the assigned value")
    return make_tuple(parts, base.type, span)


def _with_field(el: Elaborator, base_node: s.Expr, name: str, value: Any, span: Span) -> Value:
    from atoll.elaborate.expressions import expr

    base = expr(el, base_node)
    if isinstance(base, Value) and isinstance(base.type, Record):
        if name not in base.type.decl.fields:
            el.fail("E0229", span, name=name, record=base.type.decl.name, fields=", ".join(base.type.decl.fields))
        return _with_part(el, base, base.type.decl.fields.index(name), value, span)
    help_ = None
    if name in ("shape", "T", "real", "imag", "ndim", "size"):
        help_ = f".{name} can be read, not assigned; reshapes are functions: flatten(a), split(a, k), transpose(a)"
    el.fail("E0230", span, name=name, found=el.show(base.type) if isinstance(base, Value) else describe(base), help=help_)


def _warn_alias(el: Elaborator, target: s.Subscript, base: Value) -> None:
    if not isinstance(target.value, s.Name) or not isinstance(base.type, Array):
        return
    others = [
        name for name, entity in el.scope.names.items() if entity is base and name != target.value.id
    ]
    if isinstance(base.expr, ir.Var):
        others += [name for name in el.same_before.get(base.expr.sym, ()) if name in el.scope.names]
    if others and target.span not in el.warned:  # rounds of loops are read again until their types are known
        el.warned.add(target.span)
        text = (
            f"{target.span.text()} = ... changes {target.value.id} only; {others[0]} keeps the old value "
            f"(arrays are values in Atoll). Write {target.value.id} = at.copy({others[0]}) to say so."
        )
        warnings.warn_explicit(text, AliasWarning, target.span.source.name, target.span.line)


def aug_assign(el: Elaborator, node: s.AugAssign) -> None:
    """target op= value"""
    from atoll.elaborate.expressions import expr

    if isinstance(node.target, s.TupleTarget):
        el.fail("E0224", node.target.span)
    value = expr(el, node.value)
    current = expr(el, node.target)
    if isinstance(node.target, s.Subscript) and isinstance(current, Value):
        index_arrays.note_each_once(el, node.target, node.span)
        value = _as_assigned(el, current, value, node.span) if isinstance(current.type, Array) else value
    assign(el, node.target, binary(el, node.op, current, value, node.span), node.span)


# -- fields and attributes of values


def attribute(el: Elaborator, value: Value, name: str, span: Span) -> Any:
    """value.name"""
    t = value.type
    sizes, elem = shape_of(t)
    if isinstance(elem, Record) and name in elem.decl.fields:
        position = elem.decl.fields.index(name)
        return field_of(el, value, position, span)
    if isinstance(t, Union):
        return field(el, value, name, span)
    if isinstance(t, Array):
        if name == "shape":
            return make_tuple([el.size_value(n, span) for n in sizes], None, span)
        if name == "ndim":
            return el.size_value(poly(len(sizes)), span)
        if name == "size":
            total = poly(1)
            for n in sizes:
                total = total * n
            return el.size_value(total, span)
        if name == "dtype" and isinstance(elem, (Scalar, Index)):
            return en.TypeRef(Scalar(elem.dtype))
        if name == "mT" and len(sizes) >= 2:
            return transpose(el, value, (*range(len(sizes) - 2), len(sizes) - 1, len(sizes) - 2), span, ".mT")
        if name in ("itemsize", "nbytes") and isinstance(elem, (Scalar, Index)):
            total = poly(elem.dtype.numpy.itemsize)
            for n in sizes if name == "nbytes" else ():
                total = total * n
            return el.size_value(total, span)
        if name == "T":
            return transpose(el, value, None, span, ".T")
    if name in ("real", "imag") and isinstance(elem, (Scalar, Index)):
        if scalar_dtype(elem).is_complex:
            return unary_math(el, name, value, span, f".{name}")
        return value if name == "real" else binary(el, "*", value, el.size_value(poly(0)), span)
    if isinstance(t, Tuple):
        el.fail("E0230", span, name=name, found=el.show(t), help="a tuple has no names here: take it apart, a, b = t, or index it, t[0]")
    if isinstance(elem, Record):
        el.fail("E0229", span, name=name, record=elem.decl.name, fields=", ".join(elem.decl.fields))
    el.fail("E0230", span, name=name, found=el.show(t))


def field_of(el: Elaborator, value: Value, position: int, span: Span) -> Value:
    """A field of a record; of an array of records, the array of that field."""
    if isinstance(value.type, Array):
        return map_arrays(el, [value], lambda xs: field_of(el, xs[0], position, span), ["p"])
    return project(value, position)


def element_at(el: Elaborator, value: Value, index: Value, span: Span) -> Value:
    """value[index] for an index known to be in range."""
    return _read(value, [index.expr], span)


__all__ = ["Sym", "assign", "attribute", "aug_assign", "element_at", "element_value", "read", "unpack", "update"]
