"""Sizes and types as they are written, as lengths and shapes."""

from __future__ import annotations

from atoll.madl import syntax as s
from atoll.madl.meaning import expressions
from atoll.madl.meaning.reading import Names, Reading
from atoll.madl.meaning.wires import Length, NotYet, Shape, Value, Wrong, array
from atoll.madl.represented import fixed_type
from atoll.madl.typing import NAMES
from atoll.types.types import Array, Record, Tuple, Type


def written(m: Reading, size: s.Size, names: Names) -> Length:
    match size:
        case s.SizeNumber(value):
            return Length(value)
        case s.SizeHole():
            return Length()
        case s.SizeMeta(name):
            return names.outermost().sizes.setdefault("'" + name, Length())
        case s.SizeName(name):
            known = names.find("sizes", name)
            if known is None and isinstance(constant := m.library.constants.get(name), s.Number):
                return Length(int(constant.value))
            if known is None and (variable := names.find("variables", name)) is not None:
                return _computed(m, variable)
            if known is None:
                raise Wrong(f"no size {name}")
            return known  # type: ignore[no-any-return]
        case s.SizeValue(expr):
            return _computed(m, expressions.plain(m, expr, names))
        case s.SizeOp(op, left, right):
            a, b, made = written(m, left, names), written(m, right, names), Length()
            calculate(m, op, a, b, made)
            return made
    raise Wrong(f"no size: {s.text(size)}")


def _computed(m: Reading, value: Value) -> Length:
    """A number of rounds that the program computes."""
    made = Length()
    m.when(lambda: m.store.let(made, int(m.store.scalar(value))))
    return made


def calculate(m: Reading, op: str, a: Length, b: Length, c: Length) -> None:
    """a op b = c, as soon as all but one are known."""

    def found() -> None:
        x, y, z = a.known(), b.known(), c.known()
        if op == "+" and z is not None and a.root() is b.root():
            m.store.let(a, z // 2)
        elif x is not None and y is not None:
            m.store.let(c, x + y if op == "+" else x - y if op == "-" else x * y if op == "*" else x // y)
        elif z is not None and (x is not None or y is not None) and op in "+-*":
            solve(m, op, a, b, z)
        else:
            raise NotYet("a size")

    m.when(found)


def solve(m: Reading, op: str, a: Length, b: Length, c: int) -> None:
    x, y = a.known(), b.known()
    if op == "+":
        m.store.let(b if y is None else a, c - (x if x is not None else y or 0))
    elif op == "-":
        m.store.let(*((a, c + (y or 0)) if x is None else (b, x - c)))
    else:
        factor = x if x is not None else y or 0
        if factor == 0:
            raise NotYet("a size")
        if c % factor:
            raise Wrong(f"{c} is no multiple of {factor}")
        m.store.let(b if y is None else a, c // factor)


def type_of(m: Reading, t: s.TypeExpr, names: Names) -> Shape:
    match t:
        case s.TypeHole():
            return Shape()
        case s.TypeMeta(name):
            return names.outermost().types.setdefault("'" + name, Shape())
        case s.TypeName(name):
            declared = names.find("types", name)
            if declared is not None:
                return declared  # type: ignore[no-any-return]
            return shape_of(m, NAMES.get(name) or m.library.record(name) or m.library.enums[name])
        case s.IndexType():
            return shape_of(m, NAMES["int"])
        case s.FixedType(signed, whole, fraction):
            return Shape("scalar", type_=fixed_type(signed, written(m, whole, names).number(), written(m, fraction, names).number()))
        case s.ArrayType(size, elem):
            return array(written(m, size, names), type_of(m, elem, names))
        case s.TupleType(parts):
            return Shape("tuple", parts=[type_of(m, part, names) for part in parts])
    raise Wrong(f"no type: {t}")


def shape_of(m: Reading, t: Type) -> Shape:
    """A type of the file: scalars, records, arrays of literal size."""
    if isinstance(t, (Record, Tuple)):
        return Shape("tuple", type_=t if isinstance(t, Record) else None, parts=[shape_of(m, x) for x in t.items])
    if isinstance(t, Array):
        number = t.size.const()
        assert number is not None
        return array(Length(number), shape_of(m, t.elem))
    return Shape("scalar", type_=t)
