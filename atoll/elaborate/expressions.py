"""Expressions: one function per form, from a surface node to the entity it denotes."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from typing import Any

from atoll.core import ir
from atoll.elaborate import arithmetic, calls, comprehension, data, function_values, indexing
from atoll.elaborate import entities as en
from atoll.elaborate.builtins.create import filled
from atoll.elaborate.builtins.names import BUILTINS
from atoll.elaborate.builtins.reshape import concat, flatten
from atoll.elaborate.coerce import array_of, coerce, join_types, make_tuple, project_all, scalar_dtype, to_dtype, unify
from atoll.elaborate.decay import leaving
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.namespace import attribute, literal, setting, settled
from atoll.elaborate.numpy_names.names import NAMES
from atoll.surface import syntax as s
from atoll.types.dtypes import DTYPES
from atoll.types.types import BOOL_T, Array, Fn, Index, Scalar, Tuple, Type, rank, shape_of, strong


def expr(el: Elaborator, node: Any) -> Any:
    """What an expression denotes: a value, or something known at compile time."""
    found = _FORMS[type(node)](el, node)
    if el.session.recorder is not None:
        el.session.recorder.saw(el, node, found)
    return found


def value(el: Elaborator, node: s.Expr) -> Value:
    """An expression that must be a run-time value."""
    return as_value(el, expr(el, node), node)


def as_value(el: Elaborator, entity: Any, node: s.Node) -> Value:
    if isinstance(entity, Value):
        return entity
    if isinstance(entity, en.Iterable):
        return comprehension.materialise(el, entity, node.span)
    if isinstance(entity, en.TupleEntity):
        parts = [as_value(el, item, node) for item in entity.items]
        return make_tuple(parts, None, node.span)
    if isinstance(entity, en.Generator):
        el.fail("E0231", node.span)
    if isinstance(entity, en.NoneEntity):
        return data.none(node.span)
    if isinstance(entity, (en.FnRef, en.Closure, en.Choice, en.Pick, en.Declared)):
        return function_values.as_function(el, entity, None, node.span)
    el.fail("E0232", node.span, found=describe(entity))


def _num(el: Elaborator, node: s.Num) -> Value:
    if isinstance(node.value, int) and not -(2**63) <= node.value < 2**64:
        el.fail("E0212", node.span, value=node.value, dtype="i64")
    el.large_literals = el.large_literals or (isinstance(node.value, int) and node.value >= 2**63)
    return literal(node.value, node.span)


def _text(el: Elaborator, node: s.Text) -> en.TextValue:
    return en.TextValue(tuple(p if isinstance(p, str) else _formatted(el, p[0], p[1]) for p in node.parts))


def _formatted(el: Elaborator, node: s.Expr, spec: str) -> tuple[Value, str]:
    """A value in a text; its format is tried on a number of its type."""
    found = value(el, node)
    if spec:
        t = found.type
        if not isinstance(t, (Scalar, Index)):
            el.fail("E0269", node.span, spec=spec, found=el.show(t), help="format its numbers one by one, or leave the format out")
        try:
            format(t.dtype.numpy.type(1).item(), spec)
        except ValueError:
            el.fail("E0269", node.span, spec=spec, found=el.show(t))
    elif isinstance(found.type, Scalar) and found.type.dtype.name in _WIDER:  # Python and NumPy write the digits of a double; `print` of the number itself does not
        found = to_dtype(el, found, DTYPES[_WIDER[found.type.dtype.name]], node.span)
    return found, spec


_WIDER = {"f32": "f64", "c64": "c128"}


def _name(el: Elaborator, node: s.Name) -> Any:
    return settled(el, _named(el, node), node.span)


def _named(el: Elaborator, node: s.Name) -> Any:
    found = el.scope.lookup(node.id)
    if found is None:
        found = el.namespace.lookup(el, node.id, node.span)
    if found is None:
        el.fail("E0105", node.span, name=node.id, help=_similar(el, node.id))
    if isinstance(found, en.Unbound) and found.later:
        el.fail("E0128", node.span, name=node.id)
    if isinstance(found, en.Unbound):
        el.fail("E0110", node.span, name=node.id, line=found.why.line)
    return found


def _similar(el: Elaborator, name: str) -> str | None:
    import difflib

    names: list[str] = list(BUILTINS) + list(el.namespace.globals)
    scope: en.Scope | None = el.scope
    while scope is not None:
        names += scope.names
        scope = scope.parent
    close = difflib.get_close_matches(name, names, 1, 0.7)
    return f"did you mean {close[0]}?" if close else None


def _attr(el: Elaborator, node: s.Attr) -> Any:
    return settled(el, _looked_up(el, node), node.span)


def before_the_dot(el: Elaborator, node: s.Attr) -> Any:
    """What `node.name` is looked up in; there it may be what holds settings."""
    match node.value:
        case s.Name():
            return _named(el, node.value)
        case s.Attr():
            return _looked_up(el, node.value)
    return expr(el, node.value)


def _looked_up(el: Elaborator, node: s.Attr) -> Any:
    base = before_the_dot(el, node)
    if isinstance(base, en.Settings):
        return setting(el, base, node.name, node.span)
    if isinstance(base, en.Module):
        return attribute(el, base.module, node.name, node.span)
    if isinstance(base, Value):
        return indexing.attribute(el, base, node.name, node.span)
    if isinstance(base, en.Builtin):
        found = ufunc_method(base, node.name)
        if found is not None:
            return found
        close = difflib.get_close_matches(node.name, ("reduce", "accumulate", "outer", "at"), 1)
        if close and node.name != close[0]:
            el.fail("E0230", node.span, name=node.name, found=describe(base), help=f"did you mean {close[0]}?")
        if node.name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            el.fail("E0230", node.span, name=node.name, found=describe(base), help="write it with a loop, or with reduce(f, start, xs) and scan(f, start, xs)")
    if isinstance(base, en.Limits):
        return _limit(el, base, node)
    el.fail("E0230", node.span, name=node.name, found=describe(base))


def _limit(el: Elaborator, base: en.Limits, node: s.Attr) -> Value:
    """np.finfo(f64).eps"""
    import numpy as np

    if node.name not in base.attributes:
        el.fail("E0230", node.span, name=node.name, found=base.name, help=f"{base.name} has .{' .'.join(base.attributes)}")
    info = np.iinfo(base.dtype.numpy) if base.dtype.is_integer else np.finfo(base.dtype.numpy)
    value = getattr(info, node.name)
    t = Scalar(base.dtype)
    return Value(ir.Lit(int(value) if base.dtype.is_integer else float(value), type=t, span=node.span), t)


def ufunc_method(fn: en.Builtin, method: str) -> en.Word | None:
    """np.add.reduce, np.maximum.accumulate and the like."""
    key = f"{fn.key if isinstance(fn, en.Word) else fn.name}.{method}"
    return en.Word(f"np.{key}", key) if key in NAMES else None


def _binop(el: Elaborator, node: s.BinOp) -> Value:
    if isinstance(node.left, s.ListDisplay) or isinstance(node.right, s.ListDisplay):
        found = _of_display(el, node)
        if found is not None:
            return found
    if node.op == "+" and _is_list(el, node.left) and _is_list(el, node.right):
        help_ = "write concat(..., ...) for one after the other, add(..., ...) for the sums of their elements"
        el.fail("E0267", node.span, op="+", what="lists", help=help_)
    left, right = operand(el, node.left), operand(el, node.right)
    if node.op == "*":
        for items, count, side in ((left, right, node.left), (right, left, node.right)):
            _no_copies(el, node, items, count, side)
    written = node.op == "+" and any(isinstance(side, (s.TupleDisplay, s.Attr, s.Subscript)) for side in (node.left, node.right))
    if written and all(isinstance(side, Value) and isinstance(side.type, Tuple) for side in (left, right)):
        return make_tuple([*project_all(el, el.bind(left)), *project_all(el, el.bind(right))], None, node.span)  # x.shape[1:] + (3,), as in Python
    return arithmetic.binary(el, node.op, left, right, node.span)


def _is_list(el: Elaborator, node: s.Expr) -> bool:
    """What is a list in Python where it is written: a display, a comprehension, list(...), sorted(...), x.tolist()."""
    match node:
        case s.ListDisplay():
            return True
        case s.Comprehension(is_list=is_list):
            return is_list
        case s.Call(fn=s.Name(id="list" | "sorted") as fn):
            return isinstance(expr(el, fn), en.Builtin)
        case s.Call(fn=s.Attr(name="tolist")):
            return True
    return False


def _no_copies(el: Elaborator, node: s.BinOp, items: Any, count: Any, side: s.Expr) -> None:
    """`list(x) * 2` is twice the elements in Python, and their doubles of an array."""
    whole = isinstance(count, Value) and isinstance(count.type, (Scalar, Index)) and scalar_dtype(count.type).is_integer
    if whole and isinstance(items, Value) and rank(items.type) and _is_list(el, side):
        times = "k" if rank(items.type) == 1 else f"(k{', 1' * (rank(items.type) - 1)})"
        help_ = f"write np.tile(..., {times}) for copies one after the other, mul(..., k) for the products of their elements"
        el.fail("E0267", node.span, op="*", what="a list", help=help_)


def _of_display(el: Elaborator, node: s.BinOp) -> Value | None:
    """`[0.0] * n` is n copies, as in Python; where Python and NumPy read a display differently it is refused. None: as for any array."""
    both = isinstance(node.left, s.ListDisplay) and isinstance(node.right, s.ListDisplay)
    if node.op == "+" and both:
        help_ = "write concat([...], [...]) for one after the other, add([...], [...]) for the sums of their elements"
        el.fail("E0267", node.span, op="+", what="a display", help=help_)
    if node.op != "*" or both:
        return None
    display, other = (node.left, node.right) if isinstance(node.left, s.ListDisplay) else (node.right, node.left)
    count = operand(el, other)
    if not isinstance(count, Value) or not isinstance(shape_of(count.type)[1], (Scalar, Index)):
        return None
    items = value(el, display)
    if not scalar_dtype(shape_of(count.type)[1]).is_integer:
        left, right = (items, count) if display is node.left else (count, items)
        return arithmetic.binary(el, "*", left, right, node.span)
    if rank(count.type):
        help_ = "write mul([...], k) for the products of their elements; copies need one number: [...] * 3"
        el.fail("E0267", node.span, op="*", what="a display", help=help_)
    return copies(el, items, el.as_poly(count, other.span, "how many copies"), node)


def copies(el: Elaborator, items: Value, count: Any, node: s.Node) -> Value:
    """[a, b] * n: n times the items, one after the other."""
    if isinstance(items.expr, ir.MakeArray) and len(items.expr.items) == 1 and isinstance(items.type, Array):
        return filled(el, [count], Value(items.expr.items[0], items.type.elem), node.span)
    return flatten(el, el.bind(filled(el, [count], el.bind(items), node.span)), node.span)


def operand(el: Elaborator, node: s.Expr) -> Any:
    entity = expr(el, node)
    return as_value(el, entity, node) if isinstance(entity, en.Iterable) else entity


def _unary(el: Elaborator, node: s.Unary) -> Value:
    if node.op == "not":
        return arithmetic.logical_not(el, truth(el, node.value, "`not`", node.span), node.span)
    x = operand(el, node.value)
    if node.op == "-":
        return arithmetic.negate(el, x, node.span)
    if node.op == "~":
        return arithmetic.invert(el, x, node.span)
    return arithmetic.need_numbers(el, "`+`", [x], node.span)[0]


def truth(el: Elaborator, node: s.Expr, what: str, span: Any = None) -> Value:
    """An expression where only its truth counts: a number is "not 0" there, inside `and`, `or` and `not` too."""
    if isinstance(node, s.BoolOp):
        return _bool_op(el, node, strict=False)
    return arithmetic.condition(el, operand(el, node), span or node.span, what)


def _bool_op(el: Elaborator, node: s.BoolOp, strict: bool = True) -> Value:
    """`and`, `or`: lazy, left to right; what is known from the left is known on the right. As a value Python's is one of the operands: only bools then (`strict`)."""

    # a loop that is left goes on while nothing has left it and its own test holds (surface/leaving.py); the user wrote the test only
    written = "`while`" if isinstance(node.values[0], s.Name) and not node.values[0].id.isidentifier() else f"`{node.op}`"

    def step(n: s.Expr) -> Value:
        return arithmetic.condition(el, operand(el, n), n.span, written, strict=True) if strict else truth(el, n, written)

    return _chain(el, node.op, [partial(step, n) for n in node.values], node)


def _chain(el: Elaborator, op: str, parts: list[Callable[[], Value]], node: s.Node) -> Value:
    first = parts[0]()
    if len(parts) == 1:
        return first
    given = first.holds if op == "and" else first.fails
    first = el.bind(first)
    with el.block(), el.hypotheses(*given):
        rest = _chain(el, op, parts[1:], node)
        inner = el.close(rest.expr)
    if op == "and":
        out = ir.If(first.expr, inner, ir.Lit(False, type=BOOL_T, span=node.span), type=BOOL_T, span=node.span)
        return Value(out, BOOL_T, None, first.holds + rest.holds, ())
    out = ir.If(first.expr, ir.Lit(True, type=BOOL_T, span=node.span), inner, type=BOOL_T, span=node.span)
    return Value(out, BOOL_T, None, (), first.fails + rest.fails)


def _compare(el: Elaborator, node: s.Compare) -> Value:
    """a < b <= c evaluates b once and stops at the first false."""
    if len(node.rest) == 1:
        op, right = node.rest[0]
        return arithmetic.binary(el, op, operand(el, node.first), operand(el, right), node.span)
    state: dict[str, Any] = {"left": operand(el, node.first)}

    def step(op: str, right: s.Expr) -> Value:
        left = state["left"]
        other = operand(el, right)
        state["left"] = other = el.bind(other) if isinstance(other, Value) else other
        return arithmetic.condition(el, arithmetic.binary(el, op, left, other, node.span), node.span, "a chained comparison")

    return _chain(el, "and", [partial(step, o, r) for o, r in node.rest], node)


def _if_exp(el: Elaborator, node: s.IfExp) -> Any:
    test = truth(el, node.test, "the condition")
    return choose(el, test, lambda: expr(el, node.then), lambda: expr(el, node.orelse), node)


def choose(el: Elaborator, test: Value, then: Callable[[], Any], orelse: Callable[[], Any], node: s.Node) -> Any:
    """then() if test else orelse(), lazily, at one common type."""
    constant = test.expr.value if isinstance(test.expr, ir.Lit) else None
    if constant is not None:
        return then() if constant else orelse()
    known: list[Any] = []
    codes: list[tuple[Value, ir.Expr]] = []
    with el.alternatives() as turn:
        for branch, given in ((then, test.holds), (orelse, test.fails)):
            turn()
            with el.block(), el.hypotheses(*given):
                found = branch()
                if function_values.is_known(found) and not el.frames[-1] and len(codes) == 0:
                    el.frames.pop()  # nothing to compute: it stays known
                    known.append(found)
                    continue
                other = codes[0][0].type if codes else None
                if known or (function_values.is_known(found) and isinstance(other, Fn)):  # the other branch is no longer known
                    found = function_values.as_function(el, found, other if isinstance(other, Fn) else None, node.span)
                a = leaving(el, as_value(el, found, node))
                codes.append((a, el.close(a.expr)))
    if len(known) == 2:
        return en.Choice(el.bind(test), known[0], known[1])
    if known:
        a = function_values.as_function(el, known[0], codes[0][0].type, node.span)  # type: ignore[arg-type]
        codes.insert(0, (a, a.expr))
    (a, first), (b, second) = codes
    a, b = Value(first, a.type, a.poly), Value(second, b.type, b.poly)
    if strong(a.type) != strong(b.type) or a.type != b.type:
        t = join_types(el, a.type, b.type, node.span, "the two branches")
        a, b = _branch(el, a, t, node), _branch(el, b, t, node)
    else:
        t = a.type
    out = ir.If(test.expr, a.expr, b.expr, type=a.expr.type, span=node.span)
    return Value(out, t)


def _branch(el: Elaborator, v: Value, t: Type, node: s.Node) -> Value:
    with el.block():
        v = coerce(el, v, strong(t), node.span, "the branch")
        return Value(el.close(v.expr), t)


def _lambda(el: Elaborator, node: s.Lambda) -> en.Closure:
    return calls.make_closure(el, "<lambda>", node.params, node.body, node.span)


def _list(el: Elaborator, node: s.ListDisplay) -> Any:
    """[a, b, c]: an array of literal size."""
    if not node.items:
        el.fail("E0233", node.span)
    if node.is_spread:
        return _joined(el, node)
    entities = [expr(el, item) for item in node.items]
    if all(map(function_values.is_known, entities)):
        return en.FnArray(tuple(entities))
    return array_of(el, [as_value(el, e, item) for e, item in zip(entities, node.items, strict=True)], node.span)


def _joined(el: Elaborator, node: s.ListDisplay) -> Value:
    """[a, *xs, b]: what stands there and what arrays hold, one after the other; a tuple is as if its items stood there."""
    parts: list[Value] = []
    beside: list[Value] = []

    def end() -> None:
        if beside:
            parts.append(array_of(el, beside, node.span))
            beside.clear()

    for item in node.items:
        if not isinstance(item, s.Spread):
            beside.append(value(el, item))
            continue
        found = el.bind(value(el, item.value))
        if isinstance(found.type, Tuple):
            beside.extend(project_all(el, found))
        elif isinstance(found.type, Array):
            end()
            parts.append(found)
        else:
            el.fail("E0234", item.span)
    end()
    if not parts:
        el.fail("E0233", node.span)
    return parts[0] if len(parts) == 1 else concat(calls.Args(el, "[...]", node.span, tuple(parts), {}))


def _tuple(el: Elaborator, node: s.TupleDisplay) -> Any:
    parts = [expr(el, item) for item in node.items]
    parts = [as_value(el, p, node) if isinstance(p, (en.Iterable, en.Generator)) else p for p in parts]
    if all(isinstance(p, Value) for p in parts):
        return make_tuple([_keep(el, p) for p in parts], None, node.span)
    return en.TupleEntity(tuple(parts))


def _keep(el: Elaborator, v: Value) -> Value:
    """A value that stays one computation when the tuple is taken apart."""
    return el.bind(v)


def _comprehension(el: Elaborator, node: s.Comprehension) -> Any:
    return comprehension.build(el, node) if node.is_list else en.Generator(node)


def _subscript(el: Elaborator, node: s.Subscript) -> Any:
    base = operand(el, node.value)
    if isinstance(base, en.FnArray):
        return _pick(el, base, node)
    return indexing.read(el, base, node)


def _pick(el: Elaborator, base: en.FnArray, node: s.Subscript) -> Any:
    """One function of a display: known when the index is."""
    if len(node.items) != 1 or isinstance(node.items[0], (s.Slice, s.Ellipsis, s.NewAxis)):
        el.fail("E0216", node.span, found="an array of functions")
    index = el.bind(value(el, node.items[0]))
    number = index.poly.const() if index.poly is not None else None
    if number is not None and -len(base.items) <= number < len(base.items):
        return base.items[number]
    return en.Pick(index, base.items, node.span)


def _none(el: Elaborator, node: s.NoneValue) -> en.NoneEntity:
    return en.NoneEntity()


def _call(el: Elaborator, node: s.Call) -> Any:
    return calls.call(el, node)


_FORMS: dict[type, Callable[[Elaborator, Any], Any]] = {
    s.Num: _num,
    s.Text: _text,
    s.Name: _name,
    s.Attr: _attr,
    s.Call: _call,
    s.BinOp: _binop,
    s.Unary: _unary,
    s.BoolOp: _bool_op,
    s.Compare: _compare,
    s.IfExp: _if_exp,
    s.Lambda: _lambda,
    s.ListDisplay: _list,
    s.TupleDisplay: _tuple,
    s.Comprehension: _comprehension,
    s.Subscript: _subscript,
    s.NoneValue: _none,
}

__all__ = ["as_value", "choose", "expr", "operand", "unify", "value"]
