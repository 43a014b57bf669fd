"""Names of Python's own, functools.reduce, names of its math module that are not functions of single numbers, and methods that NumPy's functions have not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.entities import TextValue, Value
from atoll.elaborate.namespace import literal
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.ufuncs import MATH
from atoll.elaborate.numpy_names.ufuncs import WORDS as WORDS_OF_NUMBERS
from atoll.types.dtypes import DTYPES
from atoll.types.types import rank

I64 = DTYPES["i64"]


def _integers(name: str, count: int) -> Callable[..., Any]:
    if count == 1:

        def one(c: Call, n: Any) -> Value:
            found: Value = c.library(f"mathematics.{name}", c.integers(n))
            return found

        return one

    def two(c: Call, n: Any, k: Any) -> Value:
        found: Value = c.library(f"mathematics.{name}", c.integers(n), c.integers(k))
        return found

    return two


def _perm(c: Call, n: Any, k: Any = None) -> Value:
    found: Value = c.library("mathematics.perm", c.integers(n), c.integers(n if c.none(k) else k))
    return found


def _several(name: str) -> Callable[..., Any]:
    def handler(c: Call, *integers: Any) -> Value:
        values = [c.integers(i) for i in integers]
        result = values[0] if values else c.number(0 if name == "gcd" else 1, I64)
        if len(values) == 1:
            return c.builtin("abs", result)
        for value in values[1:]:
            result = c.el.bind(c.library(f"mathematics.{name}", result, value))
        return result

    return handler


def _dist(c: Call, p: Any, q: Any) -> Value:
    found: Value = c.library("mathematics.distance", c.vector(p), c.vector(q))
    return found


def _scalar(where: str) -> Callable[..., Any]:
    def handler(c: Call, x: Any) -> Value:
        found: Value = c.library(where, c.floats(c.value(x)))
        return found

    return handler


def _log(c: Call, x: Any, base: Any = None) -> Value:
    """math.log(x, base); Python divides the logarithms."""
    top = c.el.bind(c.builtin("log", c.value(x)))
    return top if c.none(base) else c.op("/", top, c.builtin("log", c.value(base)))


def _sum(c: Call, seq: Any) -> Value:
    return c.builtin("sum", c.floats(c.vector(seq)))


def _float(c: Call, x: Any) -> Value:
    """math's functions take floats, also where an integer is written: math.pow(10, 20) is 1e20."""
    value = c.value(x)
    written = value.expr.value if isinstance(value.expr, ir.Lit) and c.is_weak(value) else None
    return literal(float(written), c.span) if isinstance(written, int) else c.floats(value)


def _pow(c: Call, x: Any, y: Any) -> Value:
    return binary(c.el, "**", _float(c, x), _float(c, y), c.span)


def _fabs(c: Call, x: Any) -> Value:
    return c.builtin("abs", _float(c, x))


def _hypot(c: Call, *coordinates: Any) -> Value:
    values = [_float(c, x) for x in coordinates] or [literal(0.0, c.span)]
    result = values[0]
    for value in values[1:]:
        result = c.el.bind(c.builtin("hypot", result, value))
    return result if len(values) > 1 else c.builtin("abs", result)


def _prod(c: Call, iterable: Any, *, start: Any = 1) -> Value:
    found = c.builtin("prod", c.value(iterable) if c.is_many(iterable) else iterable)
    return found if isinstance(start, int) else c.op("*", start, c.el.bind(found))


def _reduce(c: Call, function: Any, iterable: Any, initial: Any = None) -> Value:
    """functools.reduce: from left to right, from the first element on where no other value is given."""
    xs = c.array(iterable)
    if initial is not None:
        return c.builtin("fold", function, c.value(initial), xs)
    rest = c.el.bind(c.builtin("trunc_l", xs, literal(1, c.span)))
    return c.builtin("fold", function, c.el.bind(c.at(xs, 0)), rest)


def _list(c: Call, xs: Any) -> Value:
    return c.array(xs)


def _divmod(c: Call, x: Any, y: Any) -> Value:
    a, b = c.value(x), c.value(y)
    return c.tuple([binary(c.el, "//", a, b, c.span), binary(c.el, "%", a, b, c.span)])


def _ord(c: Call, character: Any) -> Value:
    parts = character.parts if isinstance(character, TextValue) else ()
    if len(parts) != 1 or not isinstance(parts[0], str) or len(parts[0]) != 1:
        c.refuse("what is not one literal character", "write the character, as in ord('a'); the elements of a u8 array are numbers already")
    return literal(ord(parts[0]))


def _bits(name: str) -> Callable[..., Any]:
    """k.bit_length(), k.bit_count(): of one integer."""

    def handler(c: Call, k: Any) -> Value:
        number = c.integers(k)
        if rank(number.type):
            c.wrong(number, "one of the integers")
        found: Value = c.library(f"mathematics.{name}", number)
        return c.convert(c.el.bind(found), I64)

    return handler


def _fill(c: Call, a: Any, value: Any) -> Value:
    x = c.array(a)
    return c.filled(c.shape(x), c.el.bind(c.convert(c.value(value), c.dtype_of(x))))


WORDS: dict[str, Callable[..., Any]] = {
    **MATH,
    "math.comb": _integers("comb", 2),
    "math.perm": _perm,
    "math.factorial": _integers("factorial", 1),
    "math.isqrt": _integers("isqrt", 1),
    "math.gcd": _several("gcd"),
    "math.lcm": _several("lcm"),
    "math.dist": _dist,
    "math.degrees": _scalar("mathematics.degrees"),
    "math.radians": _scalar("mathematics.radians"),
    "math.fsum": _sum,
    "math.pow": _pow,
    "math.fabs": _fabs,
    "math.hypot": _hypot,
    "math.prod": _prod,
    "math.modf": WORDS_OF_NUMBERS["modf"],
    "math.ldexp": WORDS_OF_NUMBERS["ldexp"],
    "functools.reduce": _reduce,
    "math.log": _log,
    "python.list": _list,
    "python.divmod": _divmod,
    "python.ord": _ord,
    ".fill": _fill,
    ".bit_length": _bits("bit_length"),
    ".bit_count": _bits("bit_count"),
}
