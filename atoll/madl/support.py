"""Support functions of exported C, in the form that coding rules for safety ask for (MISRA C: one exit, braces, no mixed types, no composite casts).

They mean what the helpers of the same name in backends/c/prelude.py mean; tests/madl/test_scalars.py holds both against the oracle. Names that are not here
are the prelude's.
"""

from __future__ import annotations

import functools
import re

from atoll.backends.c.prelude import needed
from atoll.madl import fixed_support
from atoll.types.dtypes import DTYPES, DType

_INTEGERS = [d for d in DTYPES.values() if d.is_integer]
_FLOATS = [d for d in DTYPES.values() if d.is_float]


def _function(t: str, name: str, params: str, *lines: str) -> str:
    return f"static inline {t} {name}({params}) {{\n" + "".join(f"    {line}\n" for line in lines) + "}"


def _limits(d: DType) -> tuple[str, str]:
    sign = "U" if d.kind == "u" else ""
    return ("0U" if sign else f"(-INT{d.bits}_MAX - 1)" if d.bits >= 32 else str(d.limits()[0])), f"{sign}INT{d.bits}_MAX"


def _integer(d: DType) -> dict[str, str]:
    t, n, u = d.c_name, d.name, f"uint{d.bits}_t"
    wide = "uint64_t" if d.bits == 64 else "uint32_t"
    back = [f"return ({t})r;"] if d.kind == "u" else [f"const {u} low = ({u})r;", f"return ({t})low;"]
    one, zero = (f"({t})1", f"({t})0")
    found = {}
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*")):
        found[f"at_{name}_{n}"] = _function(t, f"at_{name}_{n}", f"{t} a, {t} b", f"const {wide} r = ({wide})a {sign} ({wide})b;", *back)
    for name, sign in (("min", "<"), ("max", ">")):
        found[f"at_{name}_{n}"] = _function(t, f"at_{name}_{n}", f"{t} a, {t} b", f"return (a {sign} b) ? a : b;")
    negative = [f"const {wide} r = ({wide})0 - ({wide})a;", f"const {u} low = ({u})r;"]
    if d.kind == "u":
        for name, sign in (("floordiv", "/"), ("mod", "%")):
            text = _function(t, f"at_{name}_{n}", f"{t} a, {t} b", f"return (b == {zero}) ? {zero} : ({t})(a {sign} b);")
            found[f"at_{name}_{n}"] = text
        found[f"madl_quot_{n}"] = found[f"at_floordiv_{n}"].replace("at_floordiv", "madl_quot")
        found[f"madl_rem_{n}"] = found[f"at_mod_{n}"].replace("at_mod", "madl_rem")
        found[f"at_abs_{n}"] = _function(t, f"at_abs_{n}", f"{t} a", "return a;")
        found[f"at_sign_{n}"] = _function(t, f"at_sign_{n}", f"{t} a", f"return (a == {zero}) ? {zero} : {one};")
        for name, sign in (("shl", "<<"), ("shr", ">>")):
            body = [f"const {wide} r = ({wide})a {sign} b;", f"result = ({t})r;"]
            inside = [f"{t} result = {zero};", f"if (b < {d.bits}U) {{", *("    " + line for line in body), "}", "return result;"]
            found[f"at_{name}_{n}"] = _function(t, f"at_{name}_{n}", f"{t} a, {t} b", *inside)
        return found
    minus = [f"if (b == {n_literal(-1, d)}) {{", *("    " + line for line in negative), f"    q = ({t})low;", "} else if (b != 0) {"]
    found[f"madl_quot_{n}"] = _function(
        t, f"madl_quot_{n}", f"{t} a, {t} b", f"{t} q = 0;", *minus, f"    q = ({t})(a / b);", "} else {", "    q = 0;", "}", "return q;"
    )
    found[f"at_floordiv_{n}"] = _function(
        t, f"at_floordiv_{n}", f"{t} a, {t} b", f"{t} q = 0;", *minus, f"    const {t} r = ({t})(a % b);", f"    q = ({t})(a / b);",
        "    if ((r != 0) && ((a < 0) != (b < 0))) {", f"        q = ({t})(q - 1);", "    }", "} else {", "    q = 0;", "}", "return q;",
    )  # fmt: skip
    found[f"madl_rem_{n}"] = _function(
        t, f"madl_rem_{n}", f"{t} a, {t} b", f"{t} r = 0;", f"if ((b != 0) && (b != {n_literal(-1, d)})) {{", f"    r = ({t})(a % b);", "}", "return r;"
    )
    found[f"at_mod_{n}"] = _function(
        t, f"at_mod_{n}", f"{t} a, {t} b", f"{t} r = 0;", f"if ((b != 0) && (b != {n_literal(-1, d)})) {{", f"    r = ({t})(a % b);",
        "    if ((r != 0) && ((r < 0) != (b < 0))) {", f"        r = ({t})(r + b);", "    }", "}", "return r;",
    )  # fmt: skip
    found[f"at_abs_{n}"] = _function(
        t, f"at_abs_{n}", f"{t} a", f"{t} result = a;", "if (a < 0) {", *("    " + line for line in negative), f"    result = ({t})low;", "}", "return result;"
    )
    found[f"at_sign_{n}"] = _function(t, f"at_sign_{n}", f"{t} a", f"{t} s = 0;", "if (a > 0) {", "    s = 1;", "}", "if (a < 0) {", "    s = -1;", "}", "return s;")
    found[f"at_shl_{n}"] = _function(
        t, f"at_shl_{n}", f"{t} a, {t} b", f"{t} result = 0;", f"if ((b >= 0) && (b < {d.bits})) {{",
        f"    const {wide} r = ({wide})a << (uint32_t)b;", f"    const {u} low = ({u})r;", f"    result = ({t})low;", "}", "return result;",
    )  # fmt: skip
    found[f"at_shr_{n}"] = _function(
        t, f"at_shr_{n}", f"{t} a, {t} b", f"{t} result = 0;", "if (b >= 0) {",
        f"    const {wide} far = (b < {d.bits}) ? (uint32_t)b : {d.bits - 1}U;" if wide == "uint32_t" else f"    const uint32_t far = (b < {d.bits}) ? (uint32_t)b : {d.bits - 1}U;",
        f"    const {wide} bits = (a < 0) ? ~({wide})a : ({wide})a;", f"    const {wide} r = bits >> far;", f"    const {u} low = ({u})((a < 0) ? ~r : r);", f"    result = ({t})low;", "}", "return result;",
    )  # fmt: skip
    return found


def n_literal(value: int, d: DType) -> str:
    return f"(({d.c_name}){value})" if d.bits == 64 else str(value)


def _conversions(d: DType, f: DType) -> dict[str, str]:
    """A float to an integer: truncated, saturated; NaN is the least."""
    t, x, suffix = d.c_name, f.c_name, "F" if f.name == "f32" else ""
    low, high = d.limits()
    least, most = _limits(d)
    name = f"at_{d.name}_of_{f.name}"
    lines = [f"{t} r = {least};" if d.kind == "i" else f"{t} r = 0U;", f"if (x >= {float(high + 1)!r}{suffix}) {{", f"    r = {most};"]
    bottom = f"x >= {float(low)!r}{suffix}" if d.kind == "i" else f"x > 0.0{suffix}"
    return {name: _function(t, name, f"{x} x", *lines, f"}} else if ({bottom}) {{", f"    r = ({t})x;", "} else {", f"    r = {least if d.kind == 'i' else '0U'};", "}", "return r;")}


def _float(d: DType) -> dict[str, str]:
    t, n, z = d.c_name, d.name, "0.0F" if d.name == "f32" else "0.0"
    found = {}
    for name, sign in (("min", "<"), ("max", ">")):
        test = f"((a {sign} b) || (a != a)) ? a : b"
        found[f"at_{name}_{n}"] = _function(t, f"at_{name}_{n}", f"{t} a, {t} b", f"return ({test});")
    found[f"at_sign_{n}"] = _function(
        t, f"at_sign_{n}", f"{t} a", f"{t} s = a + {z};", f"if (a > {z}) {{", f"    s = 1{z[1:]};", "}", f"if (a < {z}) {{", f"    s = -1{z[1:]};", "}", "return s;"
    )
    return found


def _roots(d: DType) -> dict[str, str]:
    t, name = d.c_name, f"madl_sqrt_{d.name}"
    wide, top = ("uint64_t", 62) if d.bits == 64 else ("uint32_t", 30)
    lines = [
        f"{wide} x = (a > {'0U' if d.kind == 'u' else '0'}) ? ({wide})a : ({wide})0;", f"{wide} r = 0;", f"{wide} bit = ({wide})1 << {top}U;",
        "while (bit > x) {", "    bit >>= 2U;", "}",
        f"while (bit != ({wide})0) {{", "    if (x >= (r + bit)) {", "        x -= r + bit;", "        r = (r >> 1U) + bit;", "    } else {",
        "        r >>= 1U;", "    }", "    bit >>= 2U;", "}", f"return ({t})r;",
    ]  # fmt: skip
    return {name: _function(t, name, f"{t} a", *lines)}


_INDICES = {
    "madl_clamp": _function(
        "int32_t", "madl_clamp", "int64_t k, int64_t n", "int64_t r = k;", "if (r > (n - 1)) {", "    r = n - 1;", "}", "if (r < 0) {", "    r = 0;", "}", "return (int32_t)r;"
    ),
    "madl_wrap": _function(
        "int32_t", "madl_wrap", "int64_t k, int64_t n", "int64_t r = (n > 0) ? (k % n) : 0;", "if (r < 0) {", "    r += n;", "}", "return (int32_t)r;"
    ),
    "at_fdiv": _function("int64_t", "at_fdiv", "int64_t a, int64_t b", "int64_t q = a / b;", "if ((a % b) < 0) {", "    q -= 1;", "}", "return q;"),
}


@functools.cache
def _texts() -> dict[str, str]:
    found = dict(_INDICES)
    for d in _INTEGERS:
        found |= _integer(d) | _roots(d)
        for f in _FLOATS:
            found |= _conversions(d, f)
    for d in _FLOATS:
        found |= _float(d)
    return found | fixed_support.texts()


_NAME = re.compile(r"\b(?:at|madl)_[a-z0-9_]+\b")


def support(text: str, kernels: str = "") -> list[str]:
    """The functions that a file uses. `kernels`, made by other parts of Atoll, keep theirs."""
    texts = _texts()
    mine: dict[str, None] = {}

    def use(body: str) -> None:
        """What a text calls, and what that calls, callees first."""
        for n in _NAME.findall(body):
            if n in texts and n not in mine:
                use(texts[n].partition("{")[2])
                mine[n] = None

    use(text)
    theirs = [h for h in needed(text + kernels) if (m := re.search(r"(at_[a-z0-9_]+)\(", h)) is None or m.group(1) not in mine]
    return [*(texts[n] for n in mine), *theirs]
