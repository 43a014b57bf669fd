"""Operators on scalars, lifted over arrays."""

from __future__ import annotations

from atoll.core import ir
from atoll.core.prims import PRIMS
from atoll.elaborate import entities as en
from atoll.elaborate.coerce import common, is_weak, project_all, scalar_dtype, to_dtype
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import TupleEntity, Value
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.sizes import Poly, Quot, Sym, floordiv, poly
from atoll.types.dtypes import BOOL, F32, F64, I64, DType
from atoll.types.types import BOOL_T, I64_T, Array, Index, Scalar, Tuple, Type, shape_of

_PRIM = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod", "&": "and", "|": "or", "^": "xor"}
_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def prim(op: str, args: list[Value], t: Scalar, span: Span) -> Value:
    """A primitive on arguments that already have one dtype; `t` is the result's type, perhaps weak."""
    expr = ir.Prim(op, tuple(a.expr for a in args), type=Scalar(t.dtype), span=span)
    return Value(expr, t)


def need_numbers(el: Elaborator, what: str, values: list[Value | object], span: Span) -> list[Value]:
    """The arguments, all of them scalars or arrays of scalars."""
    checked: list[Value] = []
    for value in values:
        if not isinstance(value, Value) or not isinstance(shape_of(value.type)[1], (Scalar, Index)):
            help_ = "types are known before a program runs: decide outside, or write two functions" if isinstance(value, en.TypeRef) else None
            if isinstance(value, en.NoneEntity):
                help_ = "a number or an array is never None: remove it; whether something is there is asked of a union, with match"
            el.fail("E0203", span, what=what, found=el.show(value.type) if isinstance(value, Value) else describe(value), help=help_)
        checked.append(value)
    return checked


def _items(el: Elaborator, x: object) -> list[object] | None:
    """The parts of a tuple."""
    if isinstance(x, TupleEntity):
        return list(x.items)
    return list[object](project_all(el, el.bind(x))) if isinstance(x, Value) and isinstance(x.type, Tuple) else None


def _of_tuples(el: Elaborator, op: str, left: object, right: object, span: Span) -> Value | None:
    """Tuples are compared as in Python: by the first parts that differ, and if there are none by their number. None when these are no tuples."""
    first, second = _items(el, left), _items(el, right)
    if first is None or second is None:
        return None
    if op in ("==", "!=") and len(first) != len(second):
        return Value(ir.Lit(op == "!=", type=BOOL_T, span=span), BOOL_T)
    lengths = {"<": len(first) < len(second), "<=": len(first) <= len(second), ">": len(first) > len(second), ">=": len(first) >= len(second)}
    result: ir.Expr = ir.Lit(lengths.get(op, op == "=="), type=BOOL_T, span=span)
    for a, b in reversed(list(zip(first, second, strict=False))):
        same = condition(el, binary(el, "==", a, b, span), span, f"`{op}`").expr
        decided: ir.Expr = ir.Lit(op == "!=", type=BOOL_T, span=span)
        if op not in ("==", "!="):
            decided = condition(el, binary(el, op, a, b, span), span, f"`{op}`").expr
        result = ir.If(same, result, decided, type=BOOL_T, span=span)
    return Value(result, BOOL_T)


def binary(el: Elaborator, op: str, left: object, right: object, span: Span) -> Value:
    """left op right, lifted."""
    if op == "@":
        from atoll.elaborate.builtins.contract import matmul

        return matmul(el, left, right, span)
    if op in _COMPARE and (found := _of_tuples(el, op, left, right, span)) is not None:
        return found
    args = need_numbers(el, f"`{op}`", [left, right], span)
    return lift(el, args, [0, 0], lambda xs: scalar_binary(el, op, xs[0], xs[1], span), span, f"`{op}`")


def scalar_binary(el: Elaborator, op: str, a: Value, b: Value, span: Span) -> Value:
    if op in _COMPARE:
        return compare(el, op, a, b, span)
    if op == "**":
        return power(el, a, b, span)
    if op in ("<<", ">>"):
        return _integer_op(el, op, "shl" if op == "<<" else "shr", a, b, span)
    if op in "&|^" and (scalar_dtype(a.type) is BOOL and scalar_dtype(b.type) is BOOL):
        return prim(_PRIM[op], [a, b], Scalar(BOOL, is_weak(a.type) and is_weak(b.type)), span)
    if op in "&|^":
        return _integer_op(el, op, _PRIM[op], a, b, span)
    known = _known(el, op, a, b)
    if known is not None and _is_count(a) and _is_count(b):
        return _from_poly(el, op, a, b, known, span)
    t = _result_type(el, op, a.type, b.type, span)
    if op == "/" and not (t.dtype.is_float or t.dtype.is_complex):
        t = Scalar(F64, t.weak)
    if t.dtype is BOOL:
        t = Scalar(I64, t.weak)
    if op in ("//", "%") and t.dtype.is_complex:
        el.fail("E0204", span, op=op, first=el.show(a.type), second=el.show(b.type))
    x, y = to_dtype(el, a, t.dtype, span), to_dtype(el, b, t.dtype, span)
    result = prim(_PRIM.get(op, "div"), [x, y], t, span)
    if op == "%" and b.poly is not None and t.dtype is I64 and not t.weak and el.facts.proves(b.poly):  # and zero is an error
        index = Index(b.poly)
        return Value(ir.Prim("mod", (x.expr, y.expr), type=index, span=span), index)
    return result


def _result_type(el: Elaborator, op: str, a: Type, b: Type, span: Span) -> Scalar:
    t = common(a, b)
    if t is None:
        help_ = "convert one side: i64(...) or u64(...)"
        el.fail("E0204", span, op=op, first=el.show(a), second=el.show(b), help=help_)
    return t


def _is_count(v: Value) -> bool:
    """True for i64 values and integer literals: what sizes are made of."""
    return scalar_dtype(v.type) is I64


def _known(el: Elaborator, op: str, a: Value, b: Value) -> Poly | None:
    """The result as a polynomial, where it is one."""
    if a.poly is None or b.poly is None:
        return None
    if op == "+":
        return a.poly + b.poly
    if op == "-":
        return a.poly - b.poly
    if op == "*":
        product = a.poly * b.poly
        return product if product.degree() <= 4 and len(product.terms) <= 12 else None
    if op in ("//", "%") and exact(el, a.poly) and exact(el, b.poly):
        divisor = b.poly.const()
        if (divisor is not None and divisor > 0) or (divisor is None and el.facts.proves(b.poly - 1)):
            quotient = floordiv(a.poly, b.poly)
            return el.facts.simplify(quotient if op == "//" else a.poly - quotient * b.poly)
    return None


def _from_poly(el: Elaborator, op: str, a: Value, b: Value, known: Poly, span: Span) -> Value:
    weak = is_weak(a.type) and is_weak(b.type)
    const = known.const()
    if const is not None:
        if not -(2**63) <= const < 2**63:
            el.fail("E0212", span, value=const, dtype="i64")
        t = Scalar(I64, weak)
        return Value(ir.Lit(const, type=I64_T, span=span), t, known)
    t2: Type = I64_T
    if op == "%" and b.poly is not None:
        t2 = Index(b.poly)
    return Value(ir.SizeOf(known, type=t2, span=span), t2, known)


def _integer_op(el: Elaborator, op: str, name: str, a: Value, b: Value, span: Span) -> Value:
    for side in (a, b):
        if not (scalar_dtype(side.type).is_integer or scalar_dtype(side.type) is BOOL):
            help_ = "convert with i64(...), or multiply by 2 ** k" if op in ("<<", ">>") else None
            el.fail("E0205", span, op=op, found=el.show(side.type), help=help_)
    t = _result_type(el, op, a.type, b.type, span)
    if t.dtype is BOOL:
        t = Scalar(I64, t.weak)
    return prim(name, [to_dtype(el, a, t.dtype, span), to_dtype(el, b, t.dtype, span)], t, span)


def power(el: Elaborator, a: Value, b: Value, span: Span) -> Value:
    """a ** b. A non-negative integer literal keeps the type and becomes multiplications."""
    exponent = b.expr.value if isinstance(b.expr, ir.Lit) and is_weak(b.type) else None
    base = a.expr.value if isinstance(a.expr, ir.Lit) and is_weak(a.type) else None
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        _fits(el, base, exponent, span)
    if isinstance(exponent, int) and not isinstance(exponent, bool) and abs(exponent) <= 64:
        if a.poly is not None and _is_count(a) and 0 <= exponent <= 3:
            return _from_poly(el, "**", a, b, a.poly**exponent, span)
        dtype = scalar_dtype(a.type)
        if exponent >= 0 or dtype.is_float or dtype.is_complex:
            return _repeated(el, a, exponent, span)
    if exponent == 0.5 and scalar_dtype(a.type).is_float:
        return prim("sqrt", [to_dtype(el, a, scalar_dtype(a.type), span)], Scalar(scalar_dtype(a.type), is_weak(a.type)), span)
    t = _result_type(el, "**", a.type, b.type, span)
    if isinstance(exponent, int) and exponent < 0 and not t.dtype.is_float and not t.dtype.is_complex:
        t = Scalar(F64, t.weak)
    if t.dtype is BOOL:
        t = Scalar(I64, t.weak)
    return prim("pow", [to_dtype(el, a, t.dtype, span), to_dtype(el, b, t.dtype, span)], t, span)


def _fits(el: Elaborator, base: int, exponent: int, span: Span) -> None:
    """An integer that is written as a power fits 64 bits, as a literal does (2**63 may be of u64, or negated)."""
    if abs(base) > 1 and (exponent > 64 or not -(2**63) <= base**exponent < 2**64):
        el.fail("E0212", span, value=f"{base}**{exponent}", dtype="i64")


def _repeated(el: Elaborator, a: Value, exponent: int, span: Span) -> Value:
    """a multiplied with itself, by squaring."""
    dtype = scalar_dtype(a.type)
    if dtype is BOOL:
        dtype = I64
    t = Scalar(dtype, is_weak(a.type))
    base = el.bind(to_dtype(el, a, dtype, span))
    base = Value(base.expr, t)
    result: Value | None = None
    n = abs(exponent)
    square = base
    while n:
        if n & 1:
            result = square if result is None else prim("mul", [el.bind(result), square], t, span)
        n >>= 1
        if n:
            square = el.bind(prim("mul", [square, square], t, span))
            square = Value(square.expr, t)
    one = Value(ir.Lit(1 if dtype.is_integer else 1.0, type=Scalar(dtype), span=span), t)
    if result is None:
        return one
    return result if exponent > 0 else prim("div", [one, result], t, span)


def compare(el: Elaborator, op: str, a: Value, b: Value, span: Span) -> Value:
    """A comparison of scalars, with what follows from it when both sides are polynomials."""
    t = _result_type(el, op, a.type, b.type, span)
    if t.dtype.is_complex and op not in ("==", "!="):
        el.fail("E0206", span, op=op)
    x, y = to_dtype(el, a, t.dtype, span), to_dtype(el, b, t.dtype, span)
    result = prim(_COMPARE[op], [x, y], Scalar(BOOL), span)
    if a.poly is None or b.poly is None or not (_trusted(el, a.poly) and _trusted(el, b.poly)):
        return result
    difference = a.poly - b.poly  # a - b
    apart = _apart(el, difference) if op in ("==", "!=") else ()
    holds, fails = {
        "<": ((-difference - 1,), (difference,)),
        "<=": ((-difference,), (difference - 1,)),
        ">": ((difference - 1,), (-difference,)),
        ">=": ((difference,), (-difference - 1,)),
        "==": ((difference, -difference), apart),
        "!=": (apart, (difference, -difference)),
    }[op]
    return Value(result.expr, BOOL_T, None, holds, fails)


def _apart(el: Elaborator, difference: Poly) -> tuple[Poly, ...]:
    """What follows from a difference that is not 0: i != 0 where i >= 0 is i >= 1, i != n - 1 where i < n is i <= n - 2."""
    if el.facts.follows(difference):
        return (difference - 1,)
    return (-difference - 1,) if el.facts.follows(-difference) else ()


def exact(el: Elaborator, p: Poly, alone: bool = True) -> bool:
    """True when the machine's value is the integer the polynomial says, so that a quotient of it is what it should be.

    Sums and products are right in any case, because they wrap around as the polynomial's value does. `alone`: a lone variable is, however large."""
    if (alone and isinstance(p.single(), Sym)) or p.const() is not None:
        return True
    if p.degree() > 3 or any(abs(c) > 2**20 for mono, c in p.terms.items() if mono):
        return False
    return all(_bounded(el, atom) for atom in p.atoms())


def _trusted(el: Elaborator, p: Poly) -> bool:
    """True when machine arithmetic cannot have wrapped: a lone variable, or a small linear combination of bounded ones."""
    if isinstance(p.single(), Sym):
        return True
    if p.degree() > 1 or any(abs(c) > 2**20 for mono, c in p.terms.items() if mono):
        return False
    return all(_bounded(el, atom) for atom in p.atoms())


def _bounded(el: Elaborator, atom: object) -> bool:
    if isinstance(atom, Quot):
        return atom.den.const() is not None and _trusted(el, atom.num)
    return isinstance(atom, Sym) and (atom in el.session.bounded or (el.facts.proves(poly(atom)) and _has_upper(el, atom)))


def _has_upper(el: Elaborator, sym: Sym) -> bool:
    """Some hypothesis bounds the symbol by bounded ones."""
    for fact in el.facts._by_atom.get(sym, ()):
        coef = fact.coefficient(sym)
        if coef is not None and (c := coef.const()) is not None and c < 0:
            rest = fact - coef * sym
            if all(atom in el.session.bounded for atom in rest.atoms()):
                return True
    return False


def negate(el: Elaborator, value: object, span: Span) -> Value:
    def apply(xs: list[Value]) -> Value:
        (x,) = xs
        if x.poly is not None and _is_count(x):
            return _from_poly(el, "-", x, x, -x.poly, span)
        dtype = scalar_dtype(x.type)
        if dtype is BOOL:
            dtype = I64
        return prim("neg", [to_dtype(el, x, dtype, span)], Scalar(dtype, is_weak(x.type)), span)

    return lift(el, need_numbers(el, "`-`", [value], span), [0], apply, span, "`-`")


def invert(el: Elaborator, value: object, span: Span) -> Value:
    def apply(xs: list[Value]) -> Value:
        (x,) = xs
        if not (scalar_dtype(x.type).is_integer or scalar_dtype(x.type) is BOOL):
            el.fail("E0205", span, op="~", found=el.show(x.type))
        dtype = scalar_dtype(x.type)
        return prim("not", [to_dtype(el, x, dtype, span)], Scalar(dtype, is_weak(x.type)), span)

    return lift(el, need_numbers(el, "`~`", [value], span), [0], apply, span, "`~`")


def logical_not(el: Elaborator, value: object, span: Span) -> Value:
    x = condition(el, value, span, "`not`")
    return Value(ir.Prim("not", (x.expr,), type=BOOL_T, span=span), BOOL_T, None, x.fails, x.holds)


_ELEMENTWISE = {
    "`and`": "for every element write (a) & (b), with the parentheses; all(...) or any(...) makes one bool of an array",
    "`or`": "for every element write (a) | (b), with the parentheses; all(...) or any(...) makes one bool of an array",
    "`not`": "for every element write ~(a), with the parentheses; all(...) or any(...) makes one bool of an array",
    "a chained comparison": "for every element write (a < b) & (b < c), with the parentheses",
}


def is_bools(t: Type) -> bool:
    return isinstance(t, Array) and isinstance(elem := shape_of(t)[1], Scalar) and elem.dtype is BOOL


def condition(el: Elaborator, value: object, span: Span, what: str, strict: bool = False) -> Value:
    """A scalar bool, as `if`, `while` and `not` need one. A number stands for "is not 0", as in Python, unless `strict`: where the number itself would be the value."""
    if not isinstance(value, Value) or not isinstance(value.type, (Scalar, Index)):
        found = el.show(value.type) if isinstance(value, Value) else describe(value)
        el.fail("E0207", span, what=what, found=found, help=_ELEMENTWISE.get(what) if isinstance(value, Value) and is_bools(value.type) else None)
    if scalar_dtype(value.type) is BOOL:
        return value
    if strict:
        el.fail("E0208", span, what=what, found=el.show(value.type), help=f"compare: {span.text()} != 0" if span.text().isidentifier() else None)
    if isinstance(value.expr, ir.Lit):
        return Value(ir.Lit(bool(value.expr.value), type=BOOL_T, span=span), BOOL_T)
    zero = Value(ir.Lit(0, type=Scalar(I64), span=span), Scalar(I64, weak=True), poly(0))
    return compare(el, "!=", value, zero, span)


def unary_math(el: Elaborator, name: str, value: object, span: Span, shown: str) -> Value:
    """A scalar function of one float; integers become f64."""
    info = PRIMS[name]

    def apply(xs: list[Value]) -> Value:
        (x,) = xs
        dtype = _float_for(el, info.takes, scalar_dtype(x.type), shown, span)
        arg = to_dtype(el, x, dtype, span)
        return prim(name, [arg], Scalar(info.result(dtype), is_weak(x.type)), span)

    return lift(el, need_numbers(el, shown, [value], span), [0], apply, span, shown)


def _float_for(el: Elaborator, takes: str, dtype: DType, shown: str, span: Span) -> DType:
    if dtype.kind in takes:
        return dtype
    if dtype is BOOL and "i" in takes:
        return I64
    if "f" in takes and dtype.kind in "biu":
        return F64
    el.fail("E0209", span, what=shown, found=dtype.name)


def nary_math(el: Elaborator, name: str, values: list[object], span: Span, shown: str) -> Value:
    """A scalar function of several arguments of one type."""
    info = PRIMS[name]

    def apply(xs: list[Value]) -> Value:
        t: Type = xs[0].type
        for x in xs[1:]:
            t = _result_type(el, shown, t, x.type, span)
        dtype = _float_for(el, info.takes, scalar_dtype(t), shown, span)
        args = [to_dtype(el, x, dtype, span) for x in xs]
        return prim(name, args, Scalar(info.result(dtype), is_weak(t)), span)

    return lift(el, need_numbers(el, shown, list(values), span), [0] * len(values), apply, span, shown)


def cast_call(el: Elaborator, dtype: DType, value: object, span: Span) -> Value:
    """f32(x), u8(i), bool(x): any conversion, written."""

    if dtype.is_storage:  # rounded as it would be stored; a number is an f32 until it is
        return unary_math(el, f"rounded_{dtype.name}", cast_call(el, F32, value, span), span, dtype.name)

    def apply(xs: list[Value]) -> Value:
        (x,) = xs
        source = scalar_dtype(x.type)
        if source.is_complex and not dtype.is_complex:
            el.fail("E0210", span, dtype=dtype.name)
        if is_weak(x.type) and isinstance(x.expr, ir.Lit):
            number = x.expr.value
            if dtype.is_integer and isinstance(number, float):
                if number != number or abs(number) == float("inf") or not dtype.limits()[0] <= int(number) <= dtype.limits()[1]:
                    el.fail("E0212", span, value=number, dtype=dtype.name)
                t = Scalar(dtype)
                return Value(ir.Lit(int(number), type=t, span=span), t, poly(int(number)) if dtype is I64 else None)
            if dtype is BOOL:
                return Value(ir.Lit(bool(number), type=BOOL_T, span=span), BOOL_T)
        if dtype is I64 and source is I64:
            known = x.poly
            return Value(x.expr, I64_T, known)
        return to_dtype(el, Value(x.expr, Scalar(scalar_dtype(x.expr.type)), x.poly) if not isinstance(x.expr, ir.Lit) else x, dtype, span)

    return lift(el, need_numbers(el, f"{dtype.name}(...)", [value], span), [0], apply, span, dtype.name)
