"""Functions of single numbers under NumPy's names.

Of two arrays the element type is NumPy's: bool with bool stays bool in add and multiply, f32 with 32- or 64-bit integers is f64. An integer that
is no array takes the type of what it meets, as Python's do in NumPy: it is often the index of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, invert, nary_math, negate, unary_math
from atoll.elaborate.calls import apply
from atoll.elaborate.entities import Value
from atoll.elaborate.numpy_names import ufunc_methods as methods
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.places import places, together
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import rank

F64, I64 = DTYPES["f64"], DTYPES["i64"]


def meeting(c: Call, x: Any, y: Any) -> tuple[Value, Value]:
    """Two arguments as NumPy promotes them."""
    a, b = c.value(x), c.value(y)
    if c.is_weak(a) or c.is_weak(b):
        return a, b
    for one, other in ((a, b), (b, a)):
        short, wide = c.dtype_of(one), c.dtype_of(other)
        if rank(other.type) and short.name in ("f32", "c64") and wide.is_integer and wide is not BOOL and wide.numpy.itemsize >= 4:
            promoted = c.convert(one, F64 if short.is_float else DTYPES["c128"])
            return (promoted, b) if one is a else (a, promoted)
    return a, b


_BOOLEAN = {"+": "|", "*": "&"}


def _operator(op: str) -> Callable[..., Any]:
    def handler(c: Call, x1: Any, x2: Any) -> Value:
        a, b = meeting(c, x1, x2)
        if c.dtype_of(a) is BOOL and c.dtype_of(b) is BOOL and op in "+-*":
            if op == "-":
                c.refuse("subtracting bools", "write np.logical_xor(x, y), or convert: np.subtract(i64(x), i64(y))")
            return binary(c.el, _BOOLEAN[op], a, b, c.span)
        return binary(c.el, op, a, b, c.span)

    return handler


def _divide(c: Call, x1: Any, x2: Any) -> Value:
    a, b = meeting(c, x1, x2)
    return binary(c.el, "/", a, b, c.span)


def _power(c: Call, x1: Any, x2: Any) -> Value:
    a, b = meeting(c, x1, x2)
    return binary(c.el, "**", a, b, c.span)


def _float_power(c: Call, x1: Any, x2: Any) -> Value:
    a = c.floats(c.value(x1))
    return binary(c.el, "**", c.convert(a, F64 if c.dtype_of(a).is_float else DTYPES["c128"]), c.value(x2), c.span)


def _function(prim: str) -> Callable[..., Any]:
    def handler(c: Call, x1: Any, x2: Any) -> Value:
        a, b = meeting(c, x1, x2)
        return nary_math(c.el, prim, [a, b], c.span, c.name)

    return handler


def _fmod(c: Call, x1: Any, x2: Any) -> Value:
    a, b = meeting(c, x1, x2)
    if all(c.dtype_of(v).is_integer or c.dtype_of(v) is BOOL for v in (a, b)):  # bools are integers here
        a, b = (c.convert(v, I64) if c.dtype_of(v) is BOOL else v for v in (a, b))
    if all(c.dtype_of(v).is_integer and c.dtype_of(v) is not BOOL for v in (a, b)):
        found: Value = c.library("mathematics.integer_fmod", *together(c, a, b))
        return found
    return nary_math(c.el, "fmod", [a, b], c.span, c.name)


def _in_floats(prim: str) -> Callable[..., Any]:
    """np.fabs, np.rint: of integers too the result is floats."""

    def handler(c: Call, x: Any) -> Value:
        value = c.value(x)
        if c.dtype_of(value).is_complex and prim == "abs":
            c.wrong(value, "real numbers")
        return unary_math(c.el, prim, c.floats(value), c.span, c.name)

    return handler


def _bitwise_count(c: Call, x: Any) -> Value:
    found: Value = c.library("mathematics.bit_count", c.integers(x))
    return found


def _logical(op: str) -> Callable[..., Any]:
    def handler(c: Call, x1: Any, x2: Any) -> Value:
        return binary(c.el, op, c.truth(x1), c.truth(x2), c.span)

    return handler


def _logical_not(c: Call, x: Any) -> Value:
    return invert(c.el, c.truth(x), c.span)


def _negative(c: Call, x: Any) -> Value:
    value = c.value(x)
    if c.dtype_of(value) is BOOL:
        c.refuse("the negative of bools", "write np.logical_not(x)")
    return negate(c.el, value, c.span)


def _invert(c: Call, x: Any) -> Value:
    return invert(c.el, c.value(x), c.span)


def _divmod(c: Call, x1: Any, x2: Any) -> Value:
    a, b = meeting(c, x1, x2)
    return c.tuple([binary(c.el, "//", a, b, c.span), binary(c.el, "%", a, b, c.span)])


def _library(where: str, count: int, floats: bool = True) -> Callable[..., Any]:
    """A function of numbers written in Atoll."""
    if count == 1:

        def one(c: Call, x: Any) -> Value:
            value = c.value(x)
            found: Value = c.library(where, c.floats(value) if floats else value)
            return found

        return one

    def two(c: Call, x1: Any, x2: Any) -> Value:
        a, b = together(c, *meeting(c, x1, x2))
        found: Value = c.library(where, c.floats(a) if floats else a, c.floats(b) if floats else b)
        return found

    return two


def _round(c: Call, a: Any, decimals: Any = 0) -> Value:
    """To a number of decimals, as NumPy does: scale, round half to even, scale back."""
    x = c.value(a)
    places = c.integer(decimals, "decimals")
    dtype = c.dtype_of(x)
    if dtype is BOOL:
        c.wrong(x, "numbers that can be rounded")
    if dtype.is_integer and places < 0:
        found: Value = c.library("mathematics.round_integer", x, 10**-places)
        return c.as_narrow(found, dtype)
    if dtype.is_integer:
        return x
    if dtype.is_complex:
        parts = [c.convert(_round(c, c.el.bind(unary_math(c.el, part, x, c.span, c.name)), decimals), F64) for part in ("real", "imag")]
        return c.convert(c.library("mathematics.complex_of", *parts), dtype)
    if places == 0:
        return unary_math(c.el, "round", x, c.span, c.name)
    scale = c.number(10.0 ** abs(places), dtype)
    there, back = ("*", "/") if places > 0 else ("/", "*")
    return binary(c.el, back, unary_math(c.el, "round", binary(c.el, there, x, scale, c.span), c.span, c.name), scale, c.span)


def _clip(c: Call, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Value:
    low, high = (a_min if c.none(min) else min), (a_max if c.none(max) else max)
    x = c.value(a)
    for bound, prim in ((low, "max"), (high, "min")):
        if not c.none(bound):
            one, other = meeting(c, x, bound)
            x = c.el.bind(nary_math(c.el, prim, [one, other], c.span, c.name))
    return x


def _nan_to_num(c: Call, x: Any, *, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Value:
    value = c.value(x)
    dtype = c.dtype_of(value)
    if dtype.is_integer or dtype is BOOL:
        return value
    if dtype.is_complex:
        c.wrong(value, "real numbers")
    import numpy as np

    most = float(np.finfo(dtype.numpy).max)
    ends = [c.convert(c.value(end if not c.none(end) else default), dtype) for end, default in ((nan, 0.0), (posinf, most), (neginf, -most))]
    found: Value = c.library("mathematics.nan_to_num", value, *ends)
    return found


def _isclose(c: Call, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Value:
    x, y = c.floats(c.value(a)), c.floats(c.value(b))
    found: Value = c.library("mathematics.is_close", x, y, c.value(rtol), c.value(atol), c.flag(equal_nan, "equal_nan"))
    return found


def _allclose(c: Call, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Value:
    close = c.el.bind(_isclose(c, a, b, rtol, atol, equal_nan))
    return c.builtin("all", c.flat(close)) if rank(close.type) else close


def _array_equal(c: Call, a1: Any, a2: Any, equal_nan: Any = False) -> Value:
    """Of different ranks, or of sizes that differ, never."""
    x, y = c.value(a1), c.value(a2)
    if rank(x.type) != rank(y.type):
        return c.number(0, BOOL)
    nan = c.flag(equal_nan, "equal_nan") and c.dtype_of(x).is_float and c.dtype_of(y).is_float
    where = "mathematics.same_or_nan" if nan else "mathematics.same"
    if rank(x.type) == 0:
        found: Value = c.library(where, x, y)
        return found
    flat_x, flat_y = c.flat(x), c.flat(y)
    shapes = c.number(1, BOOL)
    for m, n in zip(c.shape(x), c.shape(y), strict=True):
        if not c.el.facts.proves_equal(m, n):
            shapes = c.op("&", shapes, c.op("==", c.count(m), c.count(n)))
    result: Value = c.library(f"{where}_all", shapes, flat_x, flat_y)
    return result


def _array_equiv(c: Call, a1: Any, a2: Any) -> Value:
    """Equal where they meet; sizes that do not meet are an error here."""
    x, y = c.value(a1), c.value(a2)
    same = c.op("==", x, y)
    return c.builtin("all", c.flat(same)) if rank(same.type) else same


def _isclose_python(c: Call, a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Value:
    found: Value = c.library("mathematics.python_is_close", c.floats(c.value(a)), c.floats(c.value(b)), c.value(rel_tol), c.value(abs_tol))
    return found


def _angle(c: Call, z: Any, deg: Any = False) -> Value:
    value = c.value(z)
    kind = "complex_angle" if c.dtype_of(value).is_complex else "real_angle"
    found: Value = c.library(f"mathematics.{kind}", c.floats(value))
    return c.library("mathematics.degrees", c.el.bind(found)) if c.flag(deg, "deg") else found


def _where(c: Call, condition: Any, x: Any = None, y: Any = None) -> Any:
    test = c.truth(condition)
    if c.none(x) and c.none(y):
        return places(c, test)
    if c.none(x) or c.none(y):
        c.refuse("one value without the other", "give both: np.where(c, x, y)")
    a, b = meeting(c, x, y)
    return c.builtin("where", test, a, b)


def _select(c: Call, condlist: Any, choicelist: Any, default: Any = 0) -> Value:
    tests, choices = c.parts(condlist), c.parts(choicelist)
    if len(tests) != len(choices) or not tests:
        c.refuse("lists of different lengths", "give as many choices as conditions")
    result = c.value(default)
    for test, choice in reversed(list(zip(tests, choices, strict=True))):
        result = c.el.bind(c.builtin("where", c.truth(test), *meeting(c, choice, result)))
    return result


def _piecewise(c: Call, x: Any, condlist: Any, funclist: Any) -> Value:
    """Of several conditions that hold the last one counts; one function more than conditions is for where none does."""
    value, functions = c.value(x), c.parts(funclist)
    alone = isinstance(condlist, Value) and c.dtype_of(condlist) is BOOL and rank(condlist.type) == rank(value.type)
    tests = [condlist] if alone else c.parts(condlist)
    if len(functions) not in (len(tests), len(tests) + 1):
        c.refuse("lists of these lengths", "give a function or number for each condition, and one more for everywhere else")

    def piece(f: Any) -> Value:
        constant = isinstance(f, (Value, int, float)) and not (isinstance(f, Value) and rank(f.type))
        return c.convert(c.value(f if constant else apply(c.el, f, [value], c.span)), c.dtype_of(value))

    result = piece(functions[-1]) if len(functions) > len(tests) else c.number(0, c.dtype_of(value))
    for test, f in zip(tests, functions, strict=False):
        result = c.el.bind(c.builtin("where", c.truth(test), piece(f), result))
    return result


def _kind(test: str) -> Callable[..., Any]:
    def handler(c: Call, x: Any) -> Value:
        value = c.value(x)
        if c.dtype_of(value).is_complex:
            return binary(c.el, "==" if test == "real" else "!=", unary_math(c.el, "imag", value, c.span, c.name), c.number(0, c.dtype_of(value).part()), c.span)
        return c.filled(c.shape(value), c.number(test == "real", BOOL))

    return handler


def _kind_of_array(is_complex: bool) -> Callable[..., Any]:
    """np.isrealobj, np.iscomplexobj: of the element type, one answer."""

    def handler(c: Call, x: Any) -> Value:
        return c.number(c.dtype_of(c.value(x)).is_complex is is_complex, BOOL)

    return handler


def _part(name: str) -> Callable[..., Any]:
    """conj, real and imag, of real numbers too."""

    def handler(c: Call, x: Any) -> Value:
        value = c.value(x)
        if c.dtype_of(value).is_complex:
            return unary_math(c.el, name, value, c.span, c.name)
        return c.filled(c.shape(value), c.number(0, value)) if name == "imag" else value

    return handler


def _limits(integers: bool) -> Callable[..., Any]:
    """np.finfo, np.iinfo: of an element type, or of an array's."""

    def handler(c: Call, dtype: Any) -> en.Limits:
        wanted = c.dtype_of(dtype) if isinstance(dtype, Value) else c.dtype(dtype)
        if wanted is None or wanted is BOOL or wanted.is_integer is not integers:
            c.refuse("this type", "give it a type of integers: np.iinfo(i64)" if integers else "give it a type of floats: np.finfo(f64)")
        real = wanted.part() if wanted.is_complex else wanted
        return en.Limits(real, c.name, ("min", "max", "bits") if integers else ("eps", "max", "min", "tiny", "smallest_normal", "resolution"))

    return handler


def _positive(c: Call, x: Any) -> Value:
    return c.value(x)


def _ldexp(c: Call, x1: Any, x2: Any) -> Value:
    x = c.floats(c.value(x1))
    return c.convert(c.el.bind(c.library("mathematics.ldexp", x, c.integers(x2))), c.dtype_of(x))


def _heaviside(c: Call, x1: Any, x2: Any) -> Value:
    a, b = together(c, *meeting(c, x1, x2))
    found: Value = c.library("mathematics.heaviside", c.floats(a), c.floats(b))
    return found


def _reciprocal(c: Call, x: Any) -> Value:
    value = c.value(x)
    dtype = c.dtype_of(value)
    if dtype is BOOL:
        c.wrong(value, "numbers that can be divided by")
    kind = "" if not dtype.is_integer else "natural_" if dtype.kind == "u" else "integer_"
    found: Value = c.library(f"mathematics.{kind}reciprocal", value)
    return found


def _divided(name: str) -> Callable[..., Any]:
    """np.gcd, np.lcm: of integers."""

    def handler(c: Call, x1: Any, x2: Any) -> Value:
        a, b = c.value(x1), c.value(x2)
        for value in (a, b):
            if not c.dtype_of(value).is_integer or c.dtype_of(value) is BOOL:
                c.wrong(value, "integers")
        found: Value = c.library(f"mathematics.{name}", *together(c, a, b))
        return found

    return handler


# -- methods of ufuncs

def _fix(c: Call, x: Any) -> Value:
    value = c.value(x)
    found: Value = value if c.dtype_of(value).is_integer or c.dtype_of(value) is BOOL else c.library("mathematics.fix", value)
    return found


_OF_FLOATS = frozenset("divide true_divide float_power arctan2 hypot copysign logaddexp logaddexp2 heaviside".split())
TYPED = _OF_FLOATS | frozenset("add subtract multiply floor_divide mod remainder power pow maximum minimum fmax fmin fmod negative positive".split())
"""Ufuncs that take dtype=: the type they compute in."""


def typed(c: Call, ufunc: str, args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """The arguments in the type dtype= names, where NumPy casts them to it."""
    import numpy as np

    wanted = c.dtype(dtype)
    if wanted is None:
        return args
    if ufunc in _OF_FLOATS and wanted.is_integer:
        c.refuse(f"dtype={wanted.name}", "name a type of floats: dtype=f64")
    values = [c.value(arg) for arg in args]
    for value in values:
        if not np.can_cast(c.dtype_of(value).numpy, wanted.numpy, "same_kind"):
            c.refuse(f"{c.dtype_of(value).name} as dtype={wanted.name}", f"convert the argument first: {wanted.name}(x)")
    return tuple(c.convert(value, wanted) for value in values)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": _operator("+"),
    "subtract": _operator("-"),
    "multiply": _operator("*"),
    **dict.fromkeys(("divide", "true_divide"), _divide),
    "floor_divide": _operator("//"),
    **dict.fromkeys(("mod", "remainder"), _operator("%")),
    **dict.fromkeys(("power", "pow"), _power),
    "float_power": _float_power,
    "maximum": _function("max"),
    "minimum": _function("min"),
    "arctan2": _function("arctan2"),
    "hypot": _function("hypot"),
    "copysign": _function("copysign"),
    "fmod": _fmod,
    "fmax": _library("mathematics.fmax", 2, floats=False),
    "fmin": _library("mathematics.fmin", 2, floats=False),
    "logaddexp": _library("mathematics.logaddexp", 2),
    "logaddexp2": _library("mathematics.logaddexp2", 2),
    "heaviside": _heaviside,
    "ldexp": _ldexp,
    "gcd": _divided("gcd"),
    "lcm": _divided("lcm"),
    "equal": _operator("=="),
    "not_equal": _operator("!="),
    "less": _operator("<"),
    "less_equal": _operator("<="),
    "greater": _operator(">"),
    "greater_equal": _operator(">="),
    "bitwise_and": _operator("&"),
    "bitwise_or": _operator("|"),
    "bitwise_xor": _operator("^"),
    **dict.fromkeys(("left_shift", "bitwise_left_shift"), _operator("<<")),
    **dict.fromkeys(("right_shift", "bitwise_right_shift"), _operator(">>")),
    "logical_and": _logical("&"),
    "logical_or": _logical("|"),
    "logical_xor": _logical("^"),
}

WORDS: dict[str, Callable[..., Any]] = {
    **_BINARY,
    "logical_not": _logical_not,
    "negative": _negative,
    "positive": _positive,
    **dict.fromkeys(("invert", "bitwise_not", "bitwise_invert"), _invert),
    "divmod": _divmod,
    "finfo": _limits(False),
    "iinfo": _limits(True),
    "fabs": _in_floats("abs"),
    "rint": _in_floats("round"),
    "bitwise_count": _bitwise_count,
    **dict.fromkeys(("conj", "conjugate"), _part("conj")),
    "real": _part("real"),
    "imag": _part("imag"),
    "reciprocal": _reciprocal,
    **dict.fromkeys(("degrees", "rad2deg"), _library("mathematics.degrees", 1)),
    **dict.fromkeys(("radians", "deg2rad"), _library("mathematics.radians", 1)),
    "sinc": _library("mathematics.sinc", 1),
    "fix": _fix,
    "isposinf": _library("mathematics.isposinf", 1),
    "isneginf": _library("mathematics.isneginf", 1),
    "modf": _library("mathematics.modf", 1),
    "isreal": _kind("real"),
    "isrealobj": _kind_of_array(False),
    "iscomplexobj": _kind_of_array(True),
    "iscomplex": _kind("complex"),
    **dict.fromkeys(("round", "around"), _round),
    "clip": _clip,
    "nan_to_num": _nan_to_num,
    "isclose": _isclose,
    "allclose": _allclose,
    "array_equal": _array_equal,
    "array_equiv": _array_equiv,
    "angle": _angle,
    "where": _where,
    "select": _select,
    "piecewise": _piecewise,
    **{f"{name}.reduce": methods.reduce(name) for name in methods.REDUCE},
    **{f"{name}.reduce": methods.fold(name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "logical_xor")},
    **{f"{name}.accumulate": methods.accumulate(name) for name in methods.SCAN},
    **{f"{name}.outer": methods.outer(handler) for name, handler in _BINARY.items()},
    **{f"{name}.at": methods.at(name) for name in methods.PLACED},
}
MATH: dict[str, Callable[..., Any]] = {"math.isclose": _isclose_python}
"""Names of Python's math that are not NumPy's."""

STATEMENTS = frozenset(f"{name}.at" for name in methods.PLACED)
