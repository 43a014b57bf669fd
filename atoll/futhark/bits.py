"""Functions on the bits of numbers, by core primitives."""

from __future__ import annotations

from collections.abc import Callable

from atoll.core import ir
from atoll.futhark.build import Build
from atoll.futhark.values import Code
from atoll.types.types import SCALARS

E = ir.Expr


def integer_bits(b: Build, module: str, name: str, args: list[E]) -> Code | None:
    d = SCALARS[module].dtype
    wide = f"u{d.bits}"

    def word(value: int, t: str = wide) -> E:
        return ir.Lit(value, type=SCALARS[t])

    if name == "get_bit":
        at, x = b.cast(args[0], wide), b.cast(args[1], wide)
        return Code(b.cast(b.prim("and", b.prim("shr", x, at).e, word(1)).e, "i32"))
    if name == "set_bit":
        at, x, bit = b.name(b.cast(args[0], wide)), b.cast(args[1], wide), b.cast(args[2], wide)
        cleared = b.prim("and", x, b.prim("not", b.prim("shl", word(1), at).e).e).e
        return Code(b.cast(b.prim("or", cleared, b.prim("shl", bit, at).e).e, module))
    if name in ("popc", "clz", "ctz"):
        x = b.name(b.cast(args[0], wide))
        total: E = word(0)
        if name == "popc":
            for k in range(d.bits):
                total = b.prim("add", total, b.prim("and", b.prim("shr", x, word(k)).e, word(1)).e).e
            return Code(b.cast(total, "i32"))
        count: E = ir.Lit(d.bits, type=SCALARS["i32"])
        order = range(d.bits) if name == "clz" else range(d.bits - 1, -1, -1)
        for k in order:
            bit = b.prim("ne", b.prim("and", b.prim("shr", x, word(k)).e, word(1)).e, word(0), bool_=True).e
            count = b.name(b.prim("select", bit, ir.Lit(d.bits - 1 - k if name == "clz" else k, type=SCALARS["i32"]), count).e)
        return Code(count)
    if name in ("mul_hi", "mad_hi") and d.bits < 64:
        big = f"{d.kind}{d.bits * 2}"
        product = b.prim("mul", b.cast(args[0], big), b.cast(args[1], big)).e
        high = b.cast(b.prim("shr", product, ir.Lit(d.bits, type=SCALARS[big])).e, module)
        return Code(high) if name == "mul_hi" else b.prim("add", high, args[2])
    if name in ("mul_hi", "mad_hi"):
        high = _high_word(b, args[0], args[1], d.kind == "i")
        made = b.cast(high, module)
        return Code(made) if name == "mul_hi" else b.prim("add", made, args[2])
    return None


def _high_word(b: Build, x: E, y: E, signed: bool) -> E:
    """The upper half of a product of 64 bits, by halves."""
    x, y = b.name(b.cast(x, "u64")), b.name(b.cast(y, "u64"))
    word = SCALARS["u64"]
    half, low = ir.Lit(32, type=word), ir.Lit(2**32 - 1, type=word)
    x1, x0 = b.name(b.prim("shr", x, half).e), b.name(b.prim("and", x, low).e)
    y1, y0 = b.name(b.prim("shr", y, half).e), b.name(b.prim("and", y, low).e)
    first = b.prim("shr", b.prim("mul", x0, y0).e, half).e
    middle = b.name(b.prim("add", b.prim("mul", x1, y0).e, first).e)
    rest = b.name(b.prim("add", b.prim("mul", x0, y1).e, b.prim("and", middle, low).e).e)
    upper = b.prim("add", b.prim("shr", middle, half).e, b.prim("shr", rest, half).e).e
    high = b.prim("add", b.prim("mul", x1, y1).e, upper).e
    if not signed:
        return high
    sign, zero = ir.Lit(2**63 - 1, type=word), ir.Lit(0, type=word)
    for a, other in ((x, y), (y, x)):
        high = b.prim("sub", high, b.prim("select", b.prim("gt", a, sign, bool_=True).e, other, zero).e).e
    return high


# -- floats


def float_bits(b: Build, module: str, name: str, args: list[E]) -> Code:
    """Functions of a float's bits; f16 is held in f32."""
    wide = f"u{module[1:]}"
    if name == "to_bits":
        return Code(_half_bits(b, args[0])) if module == "f16" else _view(b, "to_bits", args[0], wide)
    if name == "from_bits":
        return Code(_half_from(b, args[0])) if module == "f16" else _view(b, "from_bits", args[0], module)
    if name == "get_bit":
        found = integer_bits(b, wide, "get_bit", [args[0], float_bits(b, module, "to_bits", [args[1]]).e])
        assert found is not None
        return found
    if name == "set_bit":
        found = integer_bits(b, wide, "set_bit", [args[0], float_bits(b, module, "to_bits", [args[1]]).e, args[2]])
        assert found is not None
        return float_bits(b, module, "from_bits", [found.e])
    x, y = b.name(args[0]), b.name(args[1])
    zero = ir.Lit(0.0, type=x.type)
    bits = b.name(float_bits(b, module, "to_bits", [x]).e)
    one = ir.Lit(1, type=SCALARS[wide])
    away = b.prim("eq", b.prim("lt", x, y, bool_=True).e, b.prim("gt", x, zero, bool_=True).e, bool_=True).e
    step = b.prim("select", away, b.prim("add", bits, one).e, b.prim("sub", bits, one).e).e
    least = b.prim("copysign", float_bits(b, module, "from_bits", [one]).e, y).e
    moved = b.prim("select", b.prim("eq", x, zero, bool_=True).e, least, float_bits(b, module, "from_bits", [step]).e).e
    made = b.prim("select", b.prim("eq", x, y, bool_=True).e, y, moved).e
    neither = b.prim("or", b.prim("isnan", x, bool_=True).e, b.prim("isnan", y, bool_=True).e).e
    return b.prim("select", neither, b.prim("add", x, y).e, made)


def _view(b: Build, op: str, x: E, gives: str) -> Code:
    return Code(ir.Prim(op, (x,), type=SCALARS[gives], span=b.span))


def _words(b: Build) -> tuple[Callable[[int], E], Callable[..., E], Callable[[E, E, E], E]]:
    word = SCALARS["u32"]

    def op(name: str, x: E, *more: E | int) -> E:
        for y in more:
            x = b.prim(name, x, y if isinstance(y, ir.Node) else ir.Lit(y, type=word)).e
        return x

    return lambda n: ir.Lit(n, type=word), op, lambda c, x, y: b.prim("select", c, x, y).e


def _half_bits(b: Build, x: E) -> E:
    """The bits of an f16 that is held in f32."""
    lit, op, choose = _words(b)
    whole = b.name(_view(b, "to_bits", x, "u32").e)
    sign = op("and", op("shr", whole, 16), 0x8000)
    e, m = b.name(op("and", op("shr", whole, 23), 255)), b.name(op("and", whole, 0x7FFFFF))
    special = op("or", lit(0x7C00), choose(b.prim("ne", m, lit(0), bool_=True).e, op("or", op("shr", m, 13), 0x200), lit(0)))
    normal = op("or", op("shl", op("sub", e, 112), 10), op("shr", m, 13))
    small = op("shr", op("or", m, 0x800000), op("min", op("sub", lit(126), e), 31))
    found = choose(b.prim("ge", e, lit(113), bool_=True).e, normal, choose(b.prim("ge", e, lit(103), bool_=True).e, small, lit(0)))
    return b.cast(op("or", sign, choose(b.prim("eq", e, lit(255), bool_=True).e, special, found)), "u16")


def _half_from(b: Build, x: E) -> E:
    lit, op, choose = _words(b)
    whole = b.name(b.cast(x, "u32"))
    sign = b.name(op("shl", op("and", whole, 0x8000), 16))
    e, m = b.name(op("and", op("shr", whole, 10), 31)), b.name(op("and", whole, 0x3FF))
    fraction = op("shl", m, 13)
    special = op("or", lit(0x7F800000), fraction)
    normal = op("or", op("shl", op("add", e, 112), 23), fraction)
    small = b.prim("mul", b.cast(m, "f32"), ir.Lit(2.0**-24, type=SCALARS["f32"])).e
    bits = choose(b.prim("eq", e, lit(31), bool_=True).e, special, choose(b.prim("eq", e, lit(0), bool_=True).e, _view(b, "to_bits", small, "u32").e, normal))
    return _view(b, "from_bits", op("or", sign, bits), "f32").e
