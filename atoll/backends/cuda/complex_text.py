"""Complex numbers in CUDA C, which has none: a struct for each of the two types with the operators and functions that the C backend prints."""

from __future__ import annotations

import re

_NAMES = (("double complex", "at_c128"), ("float complex", "at_c64"))
_WORD = re.compile(r"\b(double|float) (_Complex|complex)\b")


def with_complex(text: str) -> str:
    """C in which complex types have their names here."""
    return _WORD.sub(lambda m: "at_c128" if m[1] == "double" else "at_c64", text)


def _support(name: str, part: str, f: str, other: str) -> str:
    return f"""
struct {name} {{
    {part} re, im;
    {name}() = default;
    {name}({part} a, {part} b) : re(a), im(b) {{}}
    {other}
}};
#define CMPLX{f.upper()}(a, b) ({name}{{a, b}})
static inline {part} creal{f}({name} z) {{ return z.re; }}
static inline {part} cimag{f}({name} z) {{ return z.im; }}
static inline {name} conj{f}({name} z) {{ return {name}{{z.re, -z.im}}; }}
static inline {name} operator+({name} a, {name} b) {{ return {name}{{a.re + b.re, a.im + b.im}}; }}
static inline {name} operator-({name} a, {name} b) {{ return {name}{{a.re - b.re, a.im - b.im}}; }}
static inline {name} operator-({name} a) {{ return {name}{{-a.re, -a.im}}; }}
static inline {name} &operator+=({name} &a, {name} b) {{ a = a + b; return a; }}
static inline bool operator==({name} a, {name} b) {{ return a.re == b.re && a.im == b.im; }}
static inline bool operator!=({name} a, {name} b) {{ return !(a == b); }}
static inline bool operator!=({name} a, int b) {{ return a.re != ({part})b || a.im != 0; }}
static inline {name} at_shuffle_{name[3:]}({name} z, int64_t lane) {{ return {name}{{__shfl_sync(0xffffffffu, z.re, (int)lane), __shfl_sync(0xffffffffu, z.im, (int)lane)}}; }}
static inline {name} cexp{f}({name} z) {{ const {part} r = exp{f}(z.re); return {name}{{z.im == 0 ? r : r * cos{f}(z.im), z.im == 0 ? z.im : r * sin{f}(z.im)}}; }}
static inline {name} clog{f}({name} z) {{ return {name}{{log{f}(hypot{f}(z.re, z.im)), atan2{f}(z.im, z.re)}}; }}
static inline {name} csin{f}({name} z) {{ return {name}{{sin{f}(z.re) * cosh{f}(z.im), cos{f}(z.re) * sinh{f}(z.im)}}; }}
static inline {name} ccos{f}({name} z) {{ return {name}{{cos{f}(z.re) * cosh{f}(z.im), -(sin{f}(z.re) * sinh{f}(z.im))}}; }}
static inline {name} csqrt{f}({name} z) {{
    if (z.re == 0 && z.im == 0) return {name}{{0, z.im}};
    if (isinf(z.im)) return {name}{{({part})INFINITY, z.im}};
    const {part} m = fabs{f}(z.re) > fabs{f}(z.im) ? fabs{f}(z.re) : fabs{f}(z.im);
    const {part} s = m > ({part})1e30 ? ({part})0.0625 : m < ({part})1e-30 ? ({part})1048576 : ({part})1, b = s == ({part})1 ? ({part})1 : s < 1 ? ({part})4 : ({part})0.0009765625;
    const {part} re = z.re * s, im = z.im * s, t = sqrt{f}((fabs{f}(re) + hypot{f}(re, im)) * ({part})0.5);
    return re >= 0 ? {name}{{t * b, im / (2 * t) * b}} : {name}{{fabs{f}(im) / (2 * t) * b, copysign{f}(t, z.im) * b}};
}}
static inline {name} cpow{f}({name} a, {name} b) {{
    if (a.re == 0 && a.im == 0) return b.re == 0 && b.im == 0 ? {name}{{1, 0}} : {name}{{0, 0}};
    const {name} l = clog{f}(a);
    return cexp{f}({name}{{l.re * b.re - l.im * b.im, l.re * b.im + l.im * b.re}});
}}
"""


_TO_DOUBLE = "inline at_c128(const at_c64 &z);"
_TO_FLOAT = "explicit at_c64(const at_c128 &z) : re((float)z.re), im((float)z.im) {}"
COMPLEX = (
    "struct at_c64;",
    _support("at_c128", "double", "", _TO_DOUBLE),
    _support("at_c64", "float", "f", _TO_FLOAT),
    "inline at_c128::at_c128(const at_c64 &z) : re((double)z.re), im((double)z.im) {}",
)
