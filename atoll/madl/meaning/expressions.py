"""Expressions, which are patterns too: the values they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.madl import syntax as s
from atoll.madl.instances import External, RecordItem
from atoll.madl.levels import rank
from atoll.madl.meaning import boundary, operators, scopes, state, views
from atoll.madl.meaning import sizes as lengths
from atoll.madl.meaning.reading import Names, Reading, Round
from atoll.madl.meaning.wires import Length, NotYet, Path, Shape, Value, Wrong, array
from atoll.madl.scalars import FUNCTIONS
from atoll.types.dtypes import DTYPES
from atoll.types.types import Record, Scalar


def value_of(m: Reading, e: s.Expr, names: Names) -> Value:
    (found,) = values_of(m, e, names)
    return found


def values_of(m: Reading, e: s.Expr, names: Names) -> list[Value]:
    match e:
        case s.Group(items):
            return [v for item in items for v in values_of(m, item, names)]
        case s.Equation(pattern, value):
            for a, b in zip(values_of(m, pattern, names), values_of(m, value, names), strict=True):
                m.store.unify(a, b)
            return []
        case s.Typed(arg, t):
            found = values_of(m, arg, names)
            for v in found:
                m.store.same(v.shape, lengths.type_of(m, t, names))
            return found
        case s.Located(arg):
            return values_of(m, arg, names)
        case s.Initial():
            return state.initial(m, e, names)
        case s.Alias(arg, pattern):
            found = values_of(m, arg, names)
            if m.interface is not None and rank(arg) > 0:
                if m.interface.so_far is None:
                    m.interface.built.append((arg, pattern))
                return found
            for a, b in zip(values_of(m, pattern, names), found, strict=True):
                m.store.unify(a, b)
            return found
        case s.Contract():
            return []
        case s.Forward():
            return scopes.forward(m, e, names)
        case s.Block():
            return scopes.block(m, e, names, [])
        case s.ApplyBlock(block, arg):
            return scopes.block(m, block, names, values_of(m, arg, names))
        case s.Branch(condition, then, orelse):
            cases = (s.Case((), then, span=e.span), s.Case((), orelse, span=e.span))
            scopes.cases(m, e, plain(m, condition, names), cases, ((True,),), names)
            return []
        case s.Match(value, cases):
            labels = tuple(tuple(label.value for label in case.labels) for case in cases[:-1])  # type: ignore[union-attr]
            scopes.cases(m, e, plain(m, value, names), cases, labels, names)
            return []
        case s.Apply():
            return apply(m, e, names)
        case s.Last(arg):
            return [state.last(m, v, e, names) for v in values_of(m, arg, names)]
    return [single(m, e, names)]


def plain(m: Reading, e: s.Expr, names: Names) -> Value:
    """A value that is no part of the interface of a forward."""
    saved, m.interface = m.interface, None
    try:
        return value_of(m, e, names)
    finally:
        m.interface = saved


def single(m: Reading, e: s.Expr, names: Names) -> Value:
    match e:
        case s.Hole() | s.Meta():
            return Value()
        case s.Variable(name):
            known = names.find("variables", name)
            if known is not None:
                return known  # type: ignore[no-any-return]
            size = names.find("sizes", name)
            if size is None:
                raise Wrong(f"no variable {name}")
            return m.scalars.number(size)
        case s.Number(value):
            return m.scalars.literal(value)
        case s.EnumValue(t, value):
            return m.scalars.literal(value, t)
        case s.Operation(op, args):
            return m.scalars.operate(op, [plain(m, a, names) for a in args])
        case s.Copy(arg):
            return copy_of(m, value_of(m, arg, names))
        case s.ArrayOf(arg):
            parts = values_of(m, arg, names)
            made = Value(array(Length(len(parts)), Shape()))
            for a, b in zip(m.store.parts(made), parts, strict=True):
                m.store.unify(a, b)
            return made
        case s.TupleOf(arg):
            return tuple_of(m, values_of(m, arg, names), None)
        case s.Constant(size, arg):
            return constant(m, e, size, arg, names)
        case s.Aggregate(arg):
            return scopes.aggregate(m, e, arg)
        case s.Accumulate(arg):
            return scopes.accumulate(m, arg)
        case s.Project(arg, accessor):
            return project(m, value_of(m, arg, names), accessor, names)
        case s.Update(arg, accessors, value):
            return update(m, value_of(m, arg, names), accessors, value_of(m, value, names), names)
    raise Wrong(f"no value: {s.text(e)}")


def copy_of(m: Reading, v: Value) -> Value:
    return Value(v.shape, lambda path: m.store.scalar(m.store.at(v, path)))


def tuple_of(m: Reading, parts: list[Value], record: Record | None) -> Value:
    shapes = [lengths.shape_of(m, t) for t in record.items] if record is not None else [Shape() for _ in parts]
    made = Value(Shape("tuple", type_=record, parts=shapes))
    for a, b in zip(m.store.parts(made), parts, strict=True):
        m.store.unify(a, b)
    return made


def constant(m: Reading, e: s.Expr, size: s.Size, arg: s.Expr, names: Names) -> Value:
    element, length = plain(m, arg, names), lengths.written(m, size, names)
    made = Value(array(length, Shape()))
    m.store.same(made.shape.parts[0], element.shape)
    made.source = lambda path: m.store.scalar(m.store.at(element, path[1:]))
    return made


def index_of(m: Reading, size: s.Size, names: Names) -> tuple[bool, Callable[[], int]]:
    """An index, and whether it takes values that the program computes."""
    match size:
        case s.SizeName(name) if names.find("sizes", name) is None and (v := names.find("variables", name)) is not None:
            return True, lambda: int(m.store.scalar(v))
        case s.SizeValue(expr):
            value = plain(m, expr, names)
            return True, lambda: int(m.store.scalar(value))
        case s.SizeOp(op, left, right):
            (d, a), (f, b) = index_of(m, left, names), index_of(m, right, names)
            return d or f, lambda: a() + b() if op == "+" else a() - b() if op == "-" else a() * b() if op == "*" else a() // b()
    length = lengths.written(m, size, names)
    return False, length.number


def project(m: Reading, whole: Value, accessor: s.Accessor, names: Names) -> Value:
    made = Value()
    if isinstance(accessor, s.Field):
        field_name = accessor.name
        m.when(lambda: m.store.unify(made, m.store.parts(whole)[component(m, whole, field_name)]))
        return made
    dynamic, index = index_of(m, accessor.index, names)
    m.store.same(whole.shape, array(Length(), Shape()))
    m.store.same(made.shape, whole.shape.parts[0])
    if dynamic:
        made.source = lambda path: m.store.scalar(m.store.at(whole, (index(), *path)))
    else:
        m.when(lambda: m.store.unify(made, m.store.at(whole, (index(),))))
    return made


def component(m: Reading, whole: Value, name: str) -> int:
    found = m.library.fields.get(name, [])
    shape = whole.shape
    if shape.kind is None:
        if len(found) != 1:
            raise NotYet("a record")
        m.store.same(shape, lengths.shape_of(m, found[0][0]))
    known = whole.shape.type
    matching = [k for record, k in found if not isinstance(known, Record) or record.decl == known.decl]
    return matching[0]


def update(m: Reading, old: Value, accessors: tuple[s.Accessor, ...], new: Value, names: Names) -> Value:
    steps: list[Callable[[Value], int]] = []
    for accessor in accessors:
        if isinstance(accessor, s.Field):
            steps.append(lambda v, name=accessor.name: component(m, v, name))  # type: ignore[misc]
        else:
            number = index_of(m, accessor.index, names)[1]
            steps.append(lambda v, number=number: number())  # type: ignore[misc]
    made = Value(old.shape)

    def source(path: Path) -> Any:
        here = old
        for k, step in enumerate(steps):
            if path[k] != step(here):
                return m.store.scalar(m.store.at(old, path))
            here = m.store.at(here, (path[k],))
        return m.store.scalar(m.store.at(new, path[len(steps) :]))

    def shapes() -> None:
        here = old
        for accessor in accessors:
            if isinstance(accessor, s.Field):
                here = m.store.parts(here)[component(m, here, accessor.name)]
            elif here.shape.kind == "array":
                here = Value(here.shape.parts[0])
            else:
                raise NotYet("a shape")
        m.store.same(here.shape, new.shape)

    made.source = source
    made.places.append(old)
    m.when(shapes)
    return made


def apply(m: Reading, e: s.Apply, names: Names) -> list[Value]:
    item = m.library.items.get(e.name)
    if item is None and e.name in FUNCTIONS:
        sizes = [lengths.written(m, size, names) for size in e.sizes or ()]
        return [m.scalars.function(e.name, [plain(m, a, names) for a in s.items(e.arg)], sizes)]
    args = values_of(m, e.arg, names)
    if item is None:
        sizes = [lengths.written(m, size, names) for size in e.sizes] if e.sizes is not None else []
        return [views.structural(m, e.name, args, sizes)]
    if isinstance(item, RecordItem):
        return [tuple_of(m, args, item.record)]
    if isinstance(item, External):
        return external(m, item, args)
    scope = (*names.round.scope, id(e))
    here = Round(scope, names.round, m.memory.get(scope), names.round.owner)
    m.memory[scope] = here
    given = [lengths.written(m, size, names) for size in e.sizes] if e.sizes is not None else None
    saved, m.interface = m.interface, None
    arity = sum(operators.arity(m, clause.right) for clause in item.operator.interface.args)
    if len(args) != arity:  # read backwards: these are the results
        raise Wrong(f"{e.name} takes {arity} values")
    found = operators.operator(m, item.operator, here, args, given)[1]
    m.interface = saved
    return found


def external(m: Reading, item: External, args: list[Value]) -> list[Value]:
    made = Value()
    known: list[Any] = []

    def call() -> None:
        result = item.function.interpret(*(boundary.python(m, a) for a in args))
        known.append(result)
        value = np.asarray(result)
        shape = Shape("scalar", type_=Scalar(DTYPES[boundary.dtype_name(value.dtype)]))
        for n in reversed(value.shape):
            shape = array(Length(n), shape)
        m.store.same(made.shape, shape)

    made.source = lambda path: np.asarray(known[0])[path] if known else _not_yet()
    m.when(call)
    return [made]


def _not_yet() -> Any:
    raise NotYet("a result")
