"""One application of a NumPy name: its arguments and what it is elaborated with."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, cast_call, compare
from atoll.elaborate.broadcasting import drop_axis, new_axis, with_ones
from atoll.elaborate.builtins.create import filled
from atoll.elaborate.builtins.reshape import flatten, transpose
from atoll.elaborate.builtins.table import apply_builtin
from atoll.elaborate.calls import Args, text_parts
from atoll.elaborate.coerce import array_of, convert, make_tuple, map_arrays, project_all
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.decay import plain
from atoll.elaborate.elaborator import Elaborator, Mismatch, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import as_value
from atoll.elaborate.function_calls import call_instance
from atoll.elaborate.indexing import element_at
from atoll.elaborate.lifting import lift
from atoll.elaborate.namespace import literal
from atoll.errors import Error, Span
from atoll.sizes import Poly, poly
from atoll.surface import syntax as s
from atoll.types.dtypes import BOOL, DTYPES, I64, SCALAR_TYPES, DType, by_numpy
from atoll.types.types import SCALARS, Array, Index, Record, Scalar, Tuple, Type, array, rank, shape_of, strong

_PYTHON_DTYPES = {"int": "i64", "float": "f64", "bool": "bool", "complex": "c128"}
_CODES = {
    **{f"{kind}{bits // 8}": f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64)},
    **{"f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128", "f": "f32", "d": "f64", "?": "bool"},
}
"""NumPy's codes of element types, in texts."""


@dataclass(frozen=True, slots=True)
class Call:
    """The place of an application, and the words to elaborate it with."""

    el: Elaborator
    word: en.Word
    span: Span

    @property
    def name(self) -> str:
        return self.word.name

    # -- refusing

    def refuse(self, what: str, help_: str) -> NoReturn:
        """`np.pad(...): mode="wrap" is not supported`"""
        self.el.fail("E0265", self.span, name=self.name, what=what, help=help_)

    def wrong(self, found: Value | str, expected: str) -> NoReturn:
        shown = found if isinstance(found, str) else self.el.show(found.type)
        help_ = None
        if "integers" in expected:
            help_ = "give it what it takes, or convert: i64(x)"
        elif "ax" in expected:  # one axis, axes of the same number
            help_ = "x[:, None] and x[None, :] have one axis more, x.ravel() has one, x[0] has one less"
        self.el.fail("E0266", self.span, name=self.name, expected=expected, found=shown, help=help_)

    # -- arguments

    def args(self, name: str = "", *given: Any, **keywords: Any) -> Args:
        return Args(self.el, name or self.name, self.span, given, keywords)

    def value(self, entity: Any) -> Value:
        """A number or an array; a tuple of numbers or arrays is an array, as NumPy reads it."""
        if isinstance(entity, (bool, int, float)):
            return literal(entity, self.span)
        if isinstance(entity, en.TextValue):
            self.wrong("a text", "numbers")
        if isinstance(entity, en.Display):
            if not entity.items:
                self.refuse("an empty list", "write np.zeros(0), which has a type")
            return self.el.bind(array_of(self.el, [self.value(item) for item in entity.items], entity.node.span))
        found = as_value(self.el, entity, s.NoneValue(span=self.span))
        if isinstance(found.type, Tuple) and found.type.items:
            parts = [self.value(part) for part in project_all(self.el, found)]
            found = array_of(self.el, parts, self.span)
        if isinstance(shape_of(found.type)[1], Tuple):
            self.refuse("an array of tuples", "write lists in the place of tuples: [[x, y] for ...]")
        if not isinstance(shape_of(found.type)[1], (Scalar, Index)):
            self.wrong(found, "numbers")
        return found if isinstance(found.expr, ir.Lit) else self.el.bind(found)

    def array(self, entity: Any) -> Value:
        found = self.value(entity)
        if not isinstance(found.type, Array):
            self.wrong(found, "an array")
        return found

    def vector(self, entity: Any) -> Value:
        """An array of one axis."""
        found = self.array(entity)
        if rank(found.type) != 1:
            self.wrong(found, "an array with one axis")
        return found

    def integers(self, entity: Any, bools: bool = False) -> Value:
        """An integer or an array of them, as i64 or indices; bools too where they are numbers for NumPy."""
        found = self.value(entity)
        if bools and self.dtype_of(found) is BOOL:
            return self.convert(found, I64)
        if self.dtype_of(found) is BOOL or not self.dtype_of(found).is_integer:
            self.wrong(found, "integers")
        return found if isinstance(shape_of(found.type)[1], Index) else self.convert(found, I64)

    def truth(self, entity: Any) -> Value:
        """Whether numbers are other than 0; bools as they are."""
        value = self.value(entity)
        return value if self.dtype_of(value) is BOOL else self.op("!=", value, 0)

    def parts(self, entity: Any) -> list[Any]:
        """The items of a tuple, a display or an array of literal size."""
        if isinstance(entity, (en.TupleEntity, en.Display)):
            return list(entity.items)
        if isinstance(entity, en.Generator):
            self.refuse("a generator", "write a tuple of arrays: (a, b)")
        found = self.args().value(entity) if not isinstance(entity, Value) else entity
        if isinstance(found.type, (Tuple, Record)):
            return list(project_all(self.el, found))
        if isinstance(found.type, Array):
            if isinstance(found.expr, ir.MakeArray):
                elem = found.type.elem
                return [Value(e, elem, known) for e in found.expr.items for known in [_literal_poly(e)]]
            size = self.el.solver.resolve(found.type.size).const()
            if size is not None:
                found = self.el.bind(found)
                return [self.at(found, k) for k in range(size)]
            self.refuse("an array whose size is not a literal, where several arrays are expected", "write them as a tuple: (a, b)")
        return [found]

    def is_many(self, entity: Any) -> bool:
        """A tuple, a display or an array, where one number could stand."""
        if isinstance(entity, (en.TupleEntity, en.Display)):
            return True
        return isinstance(entity, Value) and isinstance(entity.type, (Tuple, Array))

    def none(self, entity: Any) -> bool:
        return entity is None or isinstance(entity, en.NoneEntity)

    def text(self, entity: Any, what: str) -> str:
        if isinstance(entity, str):
            return entity
        if isinstance(entity, en.TextValue) and len(entity.parts) == 1 and isinstance(entity.parts[0], str):
            return entity.parts[0]
        if isinstance(entity, en.TextValue) and not entity.parts:
            return ""
        self.refuse(f"{what} that is not a literal text", f'write the text itself: {what}="..."')

    def flag(self, entity: Any, what: str) -> bool:
        """True or False, written in the text."""
        if isinstance(entity, bool):
            return entity
        found = entity.expr.value if isinstance(entity, Value) and isinstance(entity.expr, ir.Lit) else None
        if found is True or found is False or (isinstance(found, int) and found in (0, 1)):
            return bool(found)
        self.refuse(f"{what} that is not True or False", f"write {what}=True or {what}=False: it decides the shape of the result")

    def integer(self, entity: Any, what: str) -> int:
        """An integer that is known while the program is elaborated."""
        if isinstance(entity, int):
            return entity
        known = entity.poly if isinstance(entity, Value) else None
        number = self.el.solver.resolve(known).const() if known is not None else None
        if number is None:
            self.refuse(f"{what} that is not a literal", f"write {what} as a number: it decides the shape of the result")
        return number

    def size(self, entity: Any, what: str = "a size") -> Poly:
        if isinstance(entity, int):
            return poly(entity)
        return self.el.as_poly(entity, self.span, what)

    def sizes(self, entity: Any) -> list[Poly]:
        """A shape: one integer or a tuple or display of them."""
        if self.is_many(entity):
            return [self.size(part) for part in self.parts(entity)]
        return [self.size(entity)]

    def dtype(self, entity: Any) -> DType | None:
        """What dtype= says; None when it says nothing."""
        if self.none(entity):
            return None
        if isinstance(entity, en.TypeRef) and isinstance(entity.type, Scalar):
            return entity.type.dtype
        if isinstance(entity, en.Builtin) and entity.name in _PYTHON_DTYPES:
            return DTYPES[_PYTHON_DTYPES[entity.name]]
        if isinstance(entity, en.TextValue):
            text = self.text(entity, "dtype")
            name = SCALAR_TYPES.get(text) or _PYTHON_DTYPES.get(text) or _CODES.get(text.lstrip("<="))
            if name is not None:
                return DTYPES[name]
        self.refuse("this dtype", "write one of Atoll's types, such as dtype=f32 or dtype=np.float32")

    # -- axes

    def axis(self, entity: Any, count: int, what: str = "axis") -> int:
        k = self.integer(entity, what)
        if not -count <= k < count:
            self.el.fail("E0249", self.span, axis=k, rank=count)
        return k % count

    def axes(self, entity: Any, count: int) -> list[int]:
        """axis=: one or several, in the order they are written; all of them for None."""
        if self.none(entity):
            return list(range(count))
        found = [self.axis(part, count) for part in (self.parts(entity) if self.is_many(entity) else [entity])]
        if len(set(found)) != len(found):
            self.refuse("the same axis twice", "name each axis once")
        return found

    def moved(self, value: Value, order: Sequence[int]) -> Value:
        """The axes in another order."""
        if list(order) == list(range(rank(value.type))):
            return value

        return self.el.bind(transpose(self.el, value, tuple(order), self.span, self.name))

    def last(self, value: Value, axes: Sequence[int]) -> Value:
        """These axes last, in the order given."""
        kept = [k for k in range(rank(value.type)) if k not in axes]
        return self.moved(value, [*kept, *axes])

    def back(self, value: Value, axis: int) -> Value:
        """The last axis at a place again."""
        count = rank(value.type)
        order = list(range(count - 1))
        order.insert(axis, count - 1)
        return self.moved(value, order)

    def flat(self, value: Value, count: int | None = None) -> Value:
        """The `count` last axes as one (all of them when None); a number becomes an array of one."""
        if rank(value.type) == 0:
            return new_axis(self.el, value, 0, self.span)
        count = rank(value.type) if count is None else count
        value = self.el.bind(value)
        for _ in range(count - 1):
            wanted = count
            value = lift(self.el, [value], [wanted], lambda xs: flatten(self.el, xs[0], self.span), self.span, "flatten")
            value = self.el.bind(value)
            count -= 1
        return value

    def along(self, value: Value, axis: Any, f: Callable[[Value], Value], flat: bool = False) -> Value:
        """f of one axis, for the others; f gives an array, whose axis stands in the place of the old one. axis=None with `flat` flattens."""
        if flat and self.none(axis):
            return f(self.flat(value))
        count = rank(value.type)
        k = self.axis(axis, count)
        moved = self.el.bind(self.last(value, [k]))
        result = self.el.bind(lift(self.el, [moved], [1], lambda xs: f(self.el.bind(xs[0])), self.span, self.name))
        if isinstance(result.type, Tuple):
            return make_tuple([self.back(part, k) for part in project_all(self.el, result)], None, self.span)
        return self.back(result, k)

    def reduced(self, value: Value, axis: Any, keepdims: Any, f: Callable[[Value], Value]) -> Value:
        """f of the axes named, as one axis; without axis=, of everything where the name is NumPy's, of each row where it is bare."""
        count = rank(value.type)
        keep = self.flag(keepdims, "keepdims")
        if axis is None and not self.word.dotted and count > 1:
            note = f"{self.name} of {count} axes reduces the last one and lifts over the rest (axis= says otherwise)"
            self.el.notes.append((self.span, note))
            axes = [count - 1]
        else:
            axes = sorted(self.axes(axis, count))
        if not axes:  # of no axis: of every element by itself
            return lift(self.el, [self.new_axis(value, count)], [1], lambda xs: f(self.el.bind(xs[0])), self.span, self.name) if count else f(self.flat(value))
        moved = self.flat(self.last(value, axes), len(axes))
        result = lift(self.el, [moved], [1], lambda xs: f(self.el.bind(xs[0])), self.span, self.name)
        if keep:
            for k in axes:
                result = self.new_axis(result, k)
        return result

    def new_axis(self, value: Value, position: int) -> Value:
        return new_axis(self.el, value, position, self.span)

    def drop_axis(self, value: Value, position: int) -> Value:
        return drop_axis(self.el, value, position, self.span)

    # -- computing

    def op(self, op: str, a: Any, b: Any) -> Value:
        return self.el.bind(binary(self.el, op, self.value(a), self.value(b), self.span))

    def builtin(self, name: str, *args: Any, **keywords: Any) -> Value:
        """An application of one of the language's own names."""
        found: Value = apply_builtin(Args(self.el, name, self.span, args, keywords))
        return found

    def library(self, where: str, *args: Any) -> Any:
        """A function of atoll/std/numpy, lifted over further axes: `c.library("statistics.variance", x, ddof)`."""
        module, name = where.split(".")
        fn = getattr(importlib.import_module(f"atoll.std.numpy.{module}"), name)
        values = [self.value(a) for a in args]
        ranks = [rank(p.type) for p in fn.signature.params]
        return lift(self.el, values, ranks, lambda xs: self._instance(fn, xs, values), self.span, self.name)

    def whole(self, where: str, *args: Any) -> Any:
        """The same for a function whose elements may be arrays themselves: nothing is lifted."""
        module, name = where.split(".")
        fn = getattr(importlib.import_module(f"atoll.std.numpy.{module}"), name)
        values = [a if isinstance(a, Value) else self.value(a) for a in args]
        return self._instance(fn, values, values)

    def _instance(self, fn: Any, xs: list[Any], given: list[Value]) -> Any:
        try:
            return call_instance(self.el, fn, [self.plain(x) for x in xs], self.span, self.name)
        except Error as error:
            span = error.span
            if span is None or not span.in_library():
                raise
        self.wrong(", ".join(self.el.show(v.type) for v in given), "another type of elements")

    def plain(self, value: Value) -> Value:
        """Ordinary integers instead of indices, which a library function takes."""
        return plain(value) if isinstance(value, Value) else value

    def at(self, value: Value, k: int) -> Value:
        """value[k]"""
        return element_at(self.el, value, self.el.size_value(poly(k), self.span), self.span)

    def rows(self, value: Value, f: Callable[[Value], Value], depth: int = 1) -> Value:
        """f of every element of the `depth` outermost axes."""
        if depth == 0:
            return f(value)
        return map_arrays(self.el, [self.el.bind(value)], lambda xs: self.rows(xs[0], f, depth - 1), ["x"])

    def convert(self, value: Value, dtype: DType) -> Value:
        """Any conversion, as a written one."""
        if self.dtype_of(value) is dtype and not self.is_weak(value) and not isinstance(shape_of(value.type)[1], Index):
            return value
        return self.el.bind(with_ones(cast_call(self.el, dtype, value, self.span), value.ones))

    def strong(self, value: Value) -> Value:
        """What is made of literals as NumPy's arrays of them: i64, f64, c128 or bool."""
        return Value(value.expr, strong(value.type), value.poly, ones=value.ones) if self.is_weak(value) else value

    def promoted(self, values: Sequence[Value]) -> list[Value]:
        """Arrays that meet in one, in NumPy's common type: literals are arrays of i64 or f64 there, f32 with i64 is f64."""
        import numpy as np

        found = [self.strong(v) for v in values]
        wanted = by_numpy(np.result_type(*(self.dtype_of(v).numpy for v in found)))
        return found if wanted is None else [self.convert(v, wanted) for v in found]

    def wide(self, value: Value) -> Value:
        """f32 as f64 and small integers as i64, which is what meeting an array of i64 makes of them in NumPy."""
        dtype = self.dtype_of(value)
        wanted = DTYPES["f64"] if dtype.name == "f32" else DTYPES["c128"] if dtype.name == "c64" else I64 if dtype.kind == "i" else dtype
        return self.convert(value, wanted)

    def as_narrow(self, value: Value, dtype: DType) -> Value:
        """A sum of small integers in their own type, around which NumPy's products wrap; sums are of 64 bits here."""
        return self.convert(value, dtype) if dtype.is_integer and self.dtype_of(value) is not dtype else value

    def floats(self, value: Value) -> Value:
        """Floats or complex numbers; integers and bools become f64."""
        dtype = self.dtype_of(value)
        return value if dtype.is_float or dtype.is_complex else convert(self.el, value, DTYPES["f64"], self.span)

    def dtype_of(self, value: Value) -> DType:
        _, elem = shape_of(value.type)
        assert isinstance(elem, (Scalar, Index))
        return elem.dtype

    def is_weak(self, value: Value) -> bool:
        _, elem = shape_of(value.type)
        return isinstance(elem, Scalar) and bool(elem.weak)

    def number(self, value: float, like: Value | DType) -> Value:
        """A number of the type of another value's elements."""
        dtype = like if isinstance(like, DType) else self.dtype_of(like)
        found: Any = bool(value) if dtype is BOOL else int(value) if dtype.is_integer else complex(value) if dtype.is_complex else float(value)
        t = Scalar(dtype)
        return Value(ir.Lit(found, type=t, span=self.span), t)

    def count(self, p: Poly) -> Value:
        return self.el.size_value(self.el.solver.resolve(p), self.span)

    def filled(self, sizes: Sequence[Poly], value: Value) -> Value:
        return filled(self.el, list(sizes), value, self.span)

    def build(self, size: Poly, body: Callable[[Value], Value]) -> Value:
        self.el.require(size, self.span.text() or self.name, self.span)
        return self.el.bind(build_array(self.el, size, "i", body, self.span))

    def same(self, left: Poly, right: Poly, of: str = "") -> None:
        """Two sizes must be equal: known to be, checked on entry or where the application stands, or an error."""
        el = self.el
        left, right = el.solver.resolve(left), el.solver.resolve(right)
        if el.solver.open_unknowns(left - right):
            el.equate(left, right, Mismatch(self.span, Array(Scalar(I64), left), Array(Scalar(I64), right), self.name, el.facts))
            return
        if el.facts.proves_equal(left, right):
            return
        text = of + (self.span.text() or self.name)
        el.require(left - right, text, self.span)
        el.require(right - left, text, self.span)

    def not_one(self, size: Poly, help_: str) -> None:
        """NumPy drops axes of size 1 when it runs; here ranks are known before, so a size that turns out to be 1 is an error."""
        known = self.el.solver.resolve(size)
        if self.el.facts.proves(known - 2) or self.el.facts.proves(-known):
            return
        self._assert(compare(self.el, "!=", self.count(known), self.value(1), self.span), f"{self.name} drops an axis of size 1 in NumPy; {help_}")

    def leading(self, coefficients: Value) -> None:
        """NumPy drops leading coefficients that are 0 when it runs."""
        some: Value = self.library("polynomials.is_led", coefficients)
        self._assert(some, f"{self.name} drops leading zeros in NumPy; np.convolve(x, y) keeps them")

    def _assert(self, test: Value, text: str) -> None:
        parts: tuple[Any, ...] = text_parts(en.TextValue((text,)))
        self.el.emit(ir.Assert(test.expr, self.span.text(), self.span, parts))

    def shape(self, value: Value) -> list[Poly]:
        return [self.el.solver.resolve(n) for n in shape_of(value.type)[0]]

    def tuple(self, parts: Sequence[Value]) -> Value:
        return make_tuple([self.el.bind(p) for p in parts], None, self.span)


def _literal_poly(e: ir.Expr) -> Poly | None:
    value = e.value if isinstance(e, ir.Lit) else None
    return poly(value) if isinstance(value, int) and not isinstance(value, bool) else None


__all__ = ["SCALARS", "Call", "Type", "array", "describe", "strong"]
