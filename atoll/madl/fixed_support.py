"""The C of fixed-point operations, in the form support.py has: one exit, braces, no shift of a negative number.

    madl_qadd_i16(a, b)            also qsub, qneg, qabs: the exact result in a wider type, saturated
    madl_qmul_i16(a, b, places)         the product has twice as many bits behind the point; madl_round_i32 drops half of them, to the nearest, halves upwards
    madl_qdiv_i16(a, b, places)         the dividend with so many bits more, divided to the nearest
    madl_qmove_i16(x, from, to)    an integer, or a number with `from` bits behind the point, as one with `to`
    madl_qof_f32_i16(x, scale)     a float
    madl_qcut_i32(x, places)       the whole part of a number, saturated
"""

from __future__ import annotations

from atoll.types.dtypes import DTYPES, DType

_FIXED = [d for d in DTYPES.values() if d.is_integer and d.bits <= 32]
_INTEGERS = [d for d in DTYPES.values() if d.is_integer]
_FLOATS = [DTYPES["f32"], DTYPES["f64"]]


def _function(t: str, name: str, params: str, *lines: str) -> str:
    return f"static inline {t} {name}({params}) {{\n" + "".join(f"    {line}\n" for line in lines) + "}"


def _limits(d: DType) -> tuple[str, str]:
    if d.kind == "u":
        return "0", {8: "255", 16: "65535", 32: "4294967295"}[d.bits]
    return {8: "-128", 16: "-32768", 32: "-2147483647 - 1"}[d.bits], {8: "127", 16: "32767", 32: "2147483647"}[d.bits]


def _saturate(d: DType) -> str:
    t, name = d.c_name, f"madl_qsat_{d.name}"
    if d.name == "i64":
        return _function(t, name, "int64_t x", "return x;")
    if d.name == "u64":
        return _function(t, name, "int64_t x", "return (x < 0) ? 0U : (uint64_t)x;")
    low, high = _limits(d)
    lines = ["int64_t r = x;", f"if (r < ({low})) {{", f"    r = {low};", "}", f"if (r > {high}) {{", f"    r = {high};", "}", f"return ({t})r;"]
    return _function(t, name, "int64_t x", *lines)


def _round(wide: str) -> str:
    """x with so many bits less, to the nearest, halves upwards."""
    unsigned = f"u{wide}"
    return _function(
        wide, f"madl_round_{_short(wide)}", f"{wide} x, uint32_t places",
        f"{wide} r = x;",
        "if (places > 0U) {",
        f"    const {unsigned} one = 1U;",
        "    const uint32_t less = places - 1U;",
        f"    const {unsigned} half = one << less;",
        f"    const {wide} y = x + ({wide})half;",
        "    if (y >= 0) {",
        f"        const {unsigned} whole = ({unsigned})y >> places;",
        f"        r = ({wide})whole;",
        "    } else {",
        f"        const {unsigned} below = ({unsigned})(-(y + 1));",
        f"        const {unsigned} whole = below >> places;",
        f"        r = -({wide})whole - 1;",
        "    }",
        "}",
        "return r;",
    )  # fmt: skip


def _short(wide: str) -> str:
    return "i32" if wide == "int32_t" else "i64"


def _scale(wide: str) -> str:
    return _function(
        wide, f"madl_scale_{_short(wide)}", f"{wide} x, uint32_t places",
        f"const u{wide} one = 1U;", f"const u{wide} factor = one << places;", f"const {wide} times = ({wide})factor;", "return x * times;",
    )  # fmt: skip


def _clip(d: DType) -> str:
    """What 32 bits hold, saturated to fewer."""
    low, high = _limits(d)
    lines = ["int32_t r = x;", f"if (r < ({low})) {{", f"    r = {low};", "}", f"if (r > {high}) {{", f"    r = {high};", "}", f"return ({d.c_name})r;"]
    return _function(d.c_name, f"madl_qclip_{d.name}", "int32_t x", *lines)


def _signed_or_sums(d: DType) -> dict[str, str]:
    t, n, found = d.c_name, d.name, {}
    wide, sat = ("int32_t", f"madl_qclip_{n}") if d.bits < 32 else ("int64_t", f"madl_qsat_{n}")
    for name, sign in (("add", "+"), ("sub", "-")):
        found[f"madl_q{name}_{n}"] = _function(t, f"madl_q{name}_{n}", f"{t} a, {t} b", f"return {sat}(({wide})a {sign} ({wide})b);")
    found[f"madl_qneg_{n}"] = _function(t, f"madl_qneg_{n}", f"{t} a", f"return {sat}(-({wide})a);" if d.kind == "i" else "return (a > 0U) ? 0U : a;")
    found[f"madl_qabs_{n}"] = _function(t, f"madl_qabs_{n}", f"{t} a", f"return {sat}((a < 0) ? -({wide})a : ({wide})a);" if d.kind == "i" else "return a;")
    if d.kind == "u":
        return found
    found[f"madl_qmul_{n}"] = _function(t, f"madl_qmul_{n}", f"{t} a, {t} b, uint32_t places", f"return {sat}(madl_round_{_short(wide)}(({wide})a * ({wide})b, places));")
    divide = [
        f"{wide} result = 0;",
        "if (b != 0) {",
        f"    const {wide} n = madl_scale_{_short(wide)}((b < 0) ? -({wide})a : ({wide})a, places);",
        f"    const {wide} m = (b < 0) ? -({wide})b : ({wide})b;",
        f"    {wide} q = n / m;",
        f"    {wide} r = n % m;",
        "    if (r < 0) {",
        "        r += m;",
        "        q -= 1;",
        "    }",
        "    if (r >= (m - r)) {",
        "        q += 1;",
        "    }",
        "    result = q;",
        "}",
        f"return {sat}(result);",
    ]
    found[f"madl_qdiv_{n}"] = _function(t, f"madl_qdiv_{n}", f"{t} a, {t} b, uint32_t places", *divide)
    return found


def _unsigned(d: DType) -> dict[str, str]:
    """Products and quotients need every bit of the wider type."""
    t, n = d.c_name, d.name
    wide, most = ("uint32_t" if d.bits < 32 else "uint64_t"), f"{d.limits()[1]}U"
    end = f"return (r > {most}) ? ({t}){most} : ({t})r;"
    product = [f"const {wide} p = ({wide})a * ({wide})b;", f"const {wide} one = 1U;", f"{wide} r = p;", "if (places > 0U) {", "    const uint32_t less = places - 1U;", "    r = (p >> places) + ((p >> less) & one);", "}", end]
    quotient = [
        f"{wide} r = 0U;", "if (b > 0U) {", f"    const {wide} n = ({wide})a << places;", f"    const {wide} left = n % ({wide})b;", f"    r = n / ({wide})b;",
        f"    if (left >= (({wide})b - left)) {{", "        r += 1U;", "    }", "}", end,
    ]  # fmt: skip
    return {f"madl_q{name}_{n}": _function(t, f"madl_q{name}_{n}", f"{t} a, {t} b, uint32_t places", *lines) for name, lines in (("mul", product), ("div", quotient))}


def _fixed(d: DType) -> dict[str, str]:
    t, n = d.c_name, d.name
    found = _signed_or_sums(d) | (_unsigned(d) if d.kind == "u" else {})
    far, near = 2**40, 2**31  # beyond what any type has, whatever the point; with more bits behind it
    move = [
        "int64_t r = x;", f"if (r > {far}) {{", f"    r = {far};", "}", f"if (r < -{far}) {{", f"    r = -{far};", "}",
        "if (to > from) {", f"    if (r > {near}) {{", f"        r = {near};", "    }", f"    if (r < -{near}) {{", f"        r = -{near};", "    }",
        "    r = madl_scale_i64(r, to - from);", "} else {", "    r = madl_round_i64(r, from - to);", "}", f"return madl_qsat_{n}(r);",
    ]  # fmt: skip
    found[f"madl_qmove_{n}"] = _function(t, f"madl_qmove_{n}", "int64_t x, uint32_t from, uint32_t to", *move)
    for f in _FLOATS:
        found[f"madl_qof_{f.name}_{n}"] = _of_float(d, f)
    return found


def _of_float(d: DType, f: DType) -> str:
    x, end = f.c_name, "F" if f.name == "f32" else ""
    low, high = d.limits()
    least, most = _limits(d)
    half = f"0.5{end}"
    lines = [
        f"const {x} y = x * scale;", f"int64_t r = {least};", f"if (y >= {float(high + 1)!r}{end}) {{", f"    r = {most};", f"}} else if (y > {float(low - 1)!r}{end}) {{",
        "    r = (int64_t)y;", f"    if ((y - ({x})r) >= {half}) {{", "        r += 1;", f"    }} else if ((y - ({x})r) < -{half}) {{", "        r -= 1;", "    } else {",
        "        r += 0;", "    }", "} else {", f"    r = {least};", "}", f"return madl_qsat_{d.name}(r);",
    ]  # fmt: skip
    return _function(d.c_name, f"madl_qof_{f.name}_{d.name}", f"{x} x, {x} scale", *lines)


def _cut(d: DType) -> str:
    lines = ["const uint64_t one = 1U;", "const uint64_t factor = one << places;", f"return madl_qsat_{d.name}(x / (int64_t)factor);"]
    return _function(d.c_name, f"madl_qcut_{d.name}", "int64_t x, uint32_t places", *lines)


def texts() -> dict[str, str]:
    """Every function, by name."""
    found: dict[str, str] = {}
    for wide in ("int32_t", "int64_t"):
        found |= {f"madl_round_{_short(wide)}": _round(wide), f"madl_scale_{_short(wide)}": _scale(wide)}
    found["madl_sat_i64"] = _function("int64_t", "madl_sat_i64", "uint64_t x", "return (x > 1099511627776U) ? 1099511627776 : (int64_t)x;")
    for d in _INTEGERS:
        found |= {f"madl_qsat_{d.name}": _saturate(d), f"madl_qcut_{d.name}": _cut(d)}
    for d in _FIXED:
        found |= _fixed(d) | ({f"madl_qclip_{d.name}": _clip(d)} if d.bits < 32 else {})
    return found
