"""Support code printed in front of a program: only what it uses.

Each helper is a row: its C text and the helpers it needs. Names start with at_, which no user name does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atoll.backends.c import ops, portable_math
from atoll.backends.c.known_wrong import probes
from atoll.backends.c.storage_text import STORAGE_HELPERS
from atoll.types.dtypes import DTYPES, DType

_INTEGERS = [d for d in DTYPES.values() if d.is_integer]
_FLOATS = [d for d in DTYPES.values() if d.is_float]


SUM_PARTS = 59  # of a long sum, one for every power of two of blocks that a count of 64 bits can have


def sum_bytes(element: int) -> int:
    """The size of what a long sum keeps: its parts and the running one, the count, and how many parts there are; whole words."""
    return ((SUM_PARTS + 1) * element + 8 + 4 + 7) // 8 * 8


def _unsigned(d: DType) -> str:
    return f"uint{d.bits}_t"


def _wide(d: DType) -> str:
    """Where products of these wrap around without overflow."""
    return "uint64_t" if d.bits == 64 else "uint32_t"


def _integer_helpers() -> dict[str, str]:
    found: dict[str, str] = {}
    for d in _INTEGERS:
        found.update(_arithmetic(d))
        found.update(_unsigned_division(d) if d.kind == "u" else _signed_division(d))
        found.update(_power_and_conversions(d))
    return found


def _arithmetic(d: DType) -> dict[str, str]:
    """What wraps around, and what compares."""
    found: dict[str, str] = {}
    t, u, wide = d.c_name, _unsigned(d), _wide(d)
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*")):
        found[f"at_{name}_{d.name}"] = (
            f"static inline {t} at_{name}_{d.name}({t} a, {t} b) {{ return ({t})({u})(({wide})a {sign} ({wide})b); }}"
        )
    for name, sign in (("min", "<"), ("max", ">")):
        found[f"at_{name}_{d.name}"] = f"static inline {t} at_{name}_{d.name}({t} a, {t} b) {{ return a {sign} b ? a : b; }}"
    return found


def _unsigned_division(d: DType) -> dict[str, str]:
    """Quotients, remainders and shifts that have a value for every operand."""
    found: dict[str, str] = {}
    t, wide = d.c_name, _wide(d)
    found[f"at_floordiv_{d.name}"] = f"static inline {t} at_floordiv_{d.name}({t} a, {t} b) {{ return b == 0 ? 0 : ({t})(a / b); }}"
    found[f"at_mod_{d.name}"] = f"static inline {t} at_mod_{d.name}({t} a, {t} b) {{ return b == 0 ? 0 : ({t})(a % b); }}"
    found[f"at_abs_{d.name}"] = f"static inline {t} at_abs_{d.name}({t} a) {{ return a; }}"
    found[f"at_sign_{d.name}"] = f"static inline {t} at_sign_{d.name}({t} a) {{ return a != 0; }}"
    found[f"at_shr_{d.name}"] = (
        f"static inline {t} at_shr_{d.name}({t} a, {t} b) {{ return b < {d.bits} ? ({t})(a >> b) : 0; }}"
    )
    found[f"at_shl_{d.name}"] = (
        f"static inline {t} at_shl_{d.name}({t} a, {t} b) {{ return b < {d.bits} ? ({t})(({wide})a << b) : 0; }}"
    )
    return found


def _signed_division(d: DType) -> dict[str, str]:
    """As Python rounds, downwards; the least number divided by -1 wraps around."""
    found: dict[str, str] = {}
    t, u, wide = d.c_name, _unsigned(d), _wide(d)
    found[f"at_floordiv_{d.name}"] = (
        f"static inline {t} at_floordiv_{d.name}({t} a, {t} b) {{\n"
        f"    if (b > 0 && (b & (b - 1)) == 0) return ({t})((a - (a & (b - 1))) / b);\n"
        f"    if (b == 0) return 0;\n    if (b == -1) return ({t})({u})(0 - ({wide})a);\n"
        f"    {t} q = ({t})(a / b);\n    return ({t})(q - ((a % b != 0) && ((a < 0) != (b < 0))));\n}}"
    )
    found[f"at_mod_{d.name}"] = (
        f"static inline {t} at_mod_{d.name}({t} a, {t} b) {{\n"
        f"    if (b > 0 && (b & (b - 1)) == 0) return ({t})(a & (b - 1));\n"
        f"    if (b == 0 || b == -1) return 0;\n    {t} r = ({t})(a % b);\n"
        f"    return ({t})(r != 0 && ((r < 0) != (b < 0)) ? r + b : r);\n}}"
    )
    found[f"at_abs_{d.name}"] = f"static inline {t} at_abs_{d.name}({t} a) {{ return a < 0 ? ({t})({u})(0 - ({wide})a) : a; }}"
    found[f"at_sign_{d.name}"] = f"static inline {t} at_sign_{d.name}({t} a) {{ return ({t})((a > 0) - (a < 0)); }}"
    found[f"at_shr_{d.name}"] = (
        f"static inline {t} at_shr_{d.name}({t} a, {t} b) {{ return b < 0 ? 0 : b < {d.bits} ? ({t})(a >> b) : ({t})(a < 0 ? -1 : 0); }}"
    )
    found[f"at_shl_{d.name}"] = (
        f"static inline {t} at_shl_{d.name}({t} a, {t} b) {{ return b >= 0 && b < {d.bits} ? ({t})({u})(({wide})a << b) : 0; }}"
    )
    return found


def _power_and_conversions(d: DType) -> dict[str, str]:
    """Powers wrap around; floats are cut to the range."""
    found: dict[str, str] = {}
    t, u, wide = d.c_name, _unsigned(d), _wide(d)
    found[f"at_pow_{d.name}"] = (
        f"static inline {t} at_pow_{d.name}({t} a, {t} b) {{\n    {wide} r = 1, x = ({wide})a;\n"
        f"    if ({'0' if d.kind == 'u' else 'b < 0'}) return 0;\n"
        f"    for (; b; b = ({t})(b >> 1)) {{ if (b & 1) r *= x; x *= x; }}\n    return ({t})({u})r;\n}}"
    )
    for f in _FLOATS:
        low, high = d.limits()
        # the largest float below high + 1, so that the conversion is defined for every input
        top = float(high + 1)
        limit = f"{top!r}{'f' if f.name == 'f32' else ''}"
        bottom = f"{float(low)!r}{'f' if f.name == 'f32' else ''}"
        minimum = "INT64_MIN" if d.name == "i64" else str(low)
        maximum = {"i64": "INT64_MAX", "u64": "UINT64_MAX"}.get(d.name, f"{high}{'u' if d.bits == 32 and d.kind == 'u' else ''}")
        found[f"at_{d.name}_of_{f.name}"] = (
            f"static inline {t} at_{d.name}_of_{f.name}({f.c_name} x) {{\n"
            f"    return x >= {limit} ? ({t}){maximum} : x >= {bottom} ? ({t})x : ({t}){minimum};\n}}"
        )
    return found


def _float_helpers() -> dict[str, str]:
    found: dict[str, str] = {}
    for d in _FLOATS:
        t, f = d.c_name, "f" if d.name == "f32" else ""
        u = f"uint{d.bits}_t"
        found[f"at_to_bits_{d.name}"] = f"static inline {u} at_to_bits_{d.name}({t} a) {{\n    {u} b;\n    memcpy(&b, &a, sizeof b);\n    return b;\n}}"
        found[f"at_from_bits_u{d.bits}"] = f"static inline {t} at_from_bits_u{d.bits}({u} a) {{\n    {t} b;\n    memcpy(&b, &a, sizeof b);\n    return b;\n}}"
        for name, sign, turned in (("min", "<", ">="), ("max", ">", "<=")):
            found[f"at_{name}_{d.name}"] = (
                f"static inline {t} at_{name}_{d.name}({t} a, {t} b) {{\n    const {t} c = a {sign} b ? a : b;\n    return a != a ? a : c;\n}}"
            )
            found[f"at_{name}_number_{d.name}"] = (
                f"/* where b is not NaN */\nstatic inline {t} at_{name}_number_{d.name}({t} a, {t} b) {{ return a {turned} b ? b : a; }}"
            )
        found[f"at_sign_{d.name}"] = (
            f"static inline {t} at_sign_{d.name}({t} a) {{ return a > 0 ? ({t})1 : a < 0 ? ({t})-1 : a + 0; }}"
        )
        found[f"at_mod_{d.name}"] = (
            f"static inline {t} at_mod_{d.name}({t} a, {t} b) {{\n    {t} r = fmod{f}(a, b);\n"
            f"    if (r != 0) return ((b < 0) != (r < 0)) ? r + b : r;\n    return copysign{f}(({t})0, b);\n}}"
        )
        found[f"at_floordiv_{d.name}"] = (
            f"static inline {t} at_floordiv_{d.name}({t} a, {t} b) {{\n"
            f"    if (b == 0) return a / b;\n    {t} m = fmod{f}(a, b), q = (a - m) / b;\n"
            f"    if (m != 0 && ((b < 0) != (m < 0))) q -= 1;\n"
            f"    if (q == 0) return copysign{f}(({t})0, a / b);\n"
            f"    {t} r = floor{f}(q);\n    return q - r > ({t})0.5 ? r + 1 : r;\n}}"
        )
        digamma = "1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12)))))"
        trigamma = "1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730 - y * 7 / 6)))))"
        if d.name == "f64":
            found["at_digamma_f64"] = (
                "static double at_digamma_f64(double x) {\n    const double pi = 3.14159265358979323846;\n    double r = 0;\n"
                "    if (x != x || x == INFINITY) return x;\n    if (x == -INFINITY || (x <= 0 && x == floor(x))) return NAN;\n"
                "    if (x <= 0) { r = -pi / tan(pi * x); x = 1 - x; }\n"
                "    while (x < 10) { r -= 1 / x; x += 1; }\n    double y = 1 / (x * x);\n"
                f"    return r + log(x) - 0.5 / x - y * ({digamma});\n}}"
            )
            found["at_trigamma_f64"] = (
                "static double at_trigamma_f64(double x) {\n    const double pi = 3.14159265358979323846;\n    double r = 0, sign = 1;\n"
                "    if (x != x) return x;\n    if (x == INFINITY) return 0;\n    if (x == -INFINITY) return NAN;\n"
                "    if (x <= 0) {\n        if (x == floor(x)) return INFINITY;\n"
                "        double s = sin(pi * x);\n        r = (pi / s) * (pi / s); sign = -1; x = 1 - x;\n    }\n"
                "    double t = 0;\n    while (x < 10) { t += 1 / (x * x); x += 1; }\n    double y = 1 / (x * x);\n"
                f"    t += (1 + 0.5 / x + y * ({trigamma})) / x;\n    return r + sign * t;\n}}"
            )
        else:
            for name in ("digamma", "trigamma"):
                found[f"at_{name}_f32"] = f"static float at_{name}_f32(float x) {{ return (float)at_{name}_f64((double)x); }}"
    return found


def _complex_helpers() -> dict[str, str]:
    found: dict[str, str] = {}
    for d in (DTYPES["c64"], DTYPES["c128"]):
        t, p, f = d.c_name, d.part().c_name, "f" if d.name == "c64" else ""
        found[f"at_complex_{d.name}"] = (
            f"static inline {t} at_complex_{d.name}({p} re, {p} im) {{\n"
            f"#ifdef CMPLX{f.upper()}\n    return CMPLX{f.upper()}(re, im);\n#else\n"
            f"    union {{ {p} part[2]; {t} whole; }} z;\n    z.part[0] = re;\n    z.part[1] = im;\n    return z.whole;\n#endif\n}}"
        )
        found[f"at_mul_{d.name}"] = (
            f"static inline {t} at_mul_{d.name}({t} a, {t} b) {{\n"
            f"    {p} ar = creal{f}(a), ai = cimag{f}(a), br = creal{f}(b), bi = cimag{f}(b);\n"
            f"    return at_complex_{d.name}(ar * br - ai * bi, ar * bi + ai * br);\n}}"
        )
        high, low, down, up = ("0x1p62f", "0x1p-60f", "0x1p-80f", "0x1p100f") if f else ("0x1p510", "0x1p-450", "0x1p-600", "0x1p600")
        back_down, back_up = ("0x1p80f", "0x1p-100f") if f else ("0x1p600", "0x1p-600")
        found[f"at_abs_{d.name}"] = (
            f"/* scaled where squares would be too large or too small; without branches, so that it runs in vectors */\n"
            f"static inline {p} at_abs_{d.name}({t} z) {{\n"
            f"    const {p} a = fabs{f}(creal{f}(z)), b = fabs{f}(cimag{f}(z)), m = a > b ? a : b;\n"
            f"    const {p} s = m > {high} ? {down} : m < {low} ? {up} : 1, back = m > {high} ? {back_down} : m < {low} ? {back_up} : 1;\n"
            f"    const {p} x = a * s, y = b * s, r = sqrt{f}(x * x + y * y) * back;\n"
            f"    return (a == INFINITY) | (b == INFINITY) ? INFINITY : r;\n}}"
        )
        found[f"at_div_{d.name}"] = (
            f"static inline {t} at_div_{d.name}({t} a, {t} b) {{\n"
            f"    {p} ar = creal{f}(a), ai = cimag{f}(a), br = creal{f}(b), bi = cimag{f}(b);\n"
            f"    if (fabs{f}(br) >= fabs{f}(bi)) {{\n"
            f"        if (br == 0 && bi == 0) return at_complex_{d.name}(ar / fabs{f}(br), ai / fabs{f}(br));\n"
            f"        {p} r = bi / br, s = 1 / (br + bi * r);\n"
            f"        return at_complex_{d.name}((ar + ai * r) * s, (ai - ar * r) * s);\n    }}\n"
            f"    {p} r = br / bi, s = 1 / (bi + br * r);\n"
            f"    return at_complex_{d.name}((ar * r + ai) * s, (ai * r - ar) * s);\n}}"
        )
    return found


def _index_helpers() -> dict[str, str]:
    return {
        "at_fdiv": (
            "/* floor division of indices; b > 0 */\nstatic inline int64_t at_fdiv(int64_t a, int64_t b) {\n"
            "    int64_t q = a / b;\n    return q - (a % b < 0);\n}"
        ),
        "at_within": (
            "/* i where 0 <= i < n, else something in that range; i is used once (within.py); n > 0 */\n"
            "static inline int64_t at_within(int64_t i, int64_t n) {\n"
            "    const uint64_t last = (uint64_t)(n - 1), left = last - (uint64_t)i;\n"
            "    return (int64_t)(last - (left < last ? left : last));\n}"
        ),
        "at_extent": (
            "/* the number of rounds of range(low, high), without overflow, or as many as nobody sees the end of */\n"
            "static inline int64_t at_extent(int64_t low, int64_t high) {\n    if (high <= low) return 0;\n"
            "    const uint64_t n = (uint64_t)high - (uint64_t)low, most = (uint64_t)1 << 62;\n    return (int64_t)(n > most ? most : n);\n}"
        ),
        "at_rounds": (
            "/* the number of rounds of range(low, high, step), without overflow, or as many as nobody sees the end of; none for a step of 0 */\n"
            "static inline int64_t at_rounds(int64_t low, int64_t high, int64_t step) {\n    if (step == 0 || (step > 0 ? high <= low : low <= high)) return 0;\n"
            "    const uint64_t distance = step > 0 ? (uint64_t)high - (uint64_t)low : (uint64_t)low - (uint64_t)high;\n"
            "    const uint64_t n = (distance - 1) / (step > 0 ? (uint64_t)step : 0 - (uint64_t)step), most = (uint64_t)1 << 62;\n"
            "    return (int64_t)(n >= most ? most : n + 1);\n}"
        ),
        "at_piece": (
            "/* how large the pieces of a loop are: depends on sizes only, so results do not depend on threads */\n"
            "static inline int64_t at_piece(int64_t extent, int64_t work, int64_t grain, int64_t align, int64_t most) {\n"
            "    int64_t piece = work > 0 && work < grain ? grain / work : 1;\n"
            "    if (piece < (extent + most - 1) / most) piece = (extent + most - 1) / most;\n"
            "    return (piece + align - 1) / align * align;\n}"
        ),
        "at_stretch": (
            "/* indices of a piece between two looks at whether to stop */\n"
            "static inline int64_t at_stretch(int64_t work, int64_t align) {\n"
            "    const int64_t much = (int64_t)1 << 22, indices = work > 0 && work < much ? much / work : 1;\n"
            "    return (indices + align - 1) / align * align;\n}"
        ),
        "at_alone": (
            "/* so little work that one thread does it (1), or does it if the others are asleep (2) */\n"
            "static inline int at_alone(int64_t work) { return work < 65536 ? 1 : work < 1048576 ? 2 : 0; }"
        ),
    }


def _copy_helpers() -> dict[str, str]:
    """Copies of whole arrays; large ones by all threads, each the part it goes on with."""
    return {
        "at_copy": (
            "typedef struct { char *to; const char *from; int64_t bytes, piece; } at_copying;\n"
            "static int at_copy_piece(at_call *at, void *given, int64_t piece) {\n    (void)at;\n"
            "    const at_copying *c = given;\n    const int64_t low = piece * c->piece, left = c->bytes - low;\n"
            "    memcpy(c->to + low, c->from + low, (size_t)(left < c->piece ? left : c->piece));\n    return 0;\n}\n"
            "static __attribute__((noinline)) int at_copy(at_call *at, void *to, const void *from, int64_t bytes) {\n"
            "    if (to == from || bytes <= 0) return 0;\n"
            "    if (bytes < 1 << 20) {\n        memcpy(to, from, (size_t)bytes);\n        return 0;\n    }\n"
            "    at_copying c = {to, from, bytes, (bytes / 64 + 65536) / 4096 * 4096};\n"
            "    return at_rt->parallel(at, at_copy_piece, &c, (bytes + c.piece - 1) / c.piece, 0);\n}"
        )
    }


def _stream_helpers() -> dict[str, str]:
    """Stores that go past the caches, a cache line at a time; parts of lines are stored as usual."""
    return {
        "at_stream": (
            "#if defined(__AVX512F__)\n#define AT_STREAM_BYTES 64\n#elif defined(__AVX__)\n#define AT_STREAM_BYTES 32\n#else\n#define AT_STREAM_BYTES 16\n#endif\n"
            "typedef long long at_stream_t __attribute__((vector_size(AT_STREAM_BYTES), may_alias));\n"
            "typedef long long at_stream_from __attribute__((vector_size(AT_STREAM_BYTES), aligned(1), may_alias));\n"
            "static inline void at_stream_one(at_stream_t *to, at_stream_t value) {\n"
            "#if defined(__clang__)\n    __builtin_nontemporal_store(value, to);\n"
            "#elif defined(__AVX512F__)\n    __builtin_ia32_movntdq512((void *)to, value);\n"
            "#elif defined(__AVX__)\n    __builtin_ia32_movntdq256((void *)to, value);\n"
            "#elif defined(__SSE2__)\n    __builtin_ia32_movntdq((void *)to, value);\n"
            "#else\n    *to = value;\n#endif\n}\n"
            "static inline void at_stream(void *to, const void *from, int64_t bytes) {\n"
            "    char *t = to;\n    const char *f = from;\n    const int64_t head = -(intptr_t)t & 63;\n"
            "    if (head) memcpy(t, f, (size_t)(head < bytes ? head : bytes));\n    int64_t k = head;\n"
            "    for (; k + 64 <= bytes; k += 64)\n"
            "        for (int64_t l = k; l < k + 64; l += AT_STREAM_BYTES) at_stream_one((at_stream_t *)(t + l), *(const at_stream_from *)(f + l));\n"
            "    if (k < bytes) memcpy(t + k, f + k, (size_t)(bytes - k));\n}"
        ),
        "at_fence": (
            "static inline void at_fence(void) {\n#if defined(__SSE2__)\n    __builtin_ia32_sfence();\n#else\n    __sync_synchronize();\n#endif\n}"
        ),
    }


def _compress_helpers() -> dict[str, str]:
    """at_compress_<bytes>(from, flags, to, n): the elements whose flag is set, in order; how many. `to` has room for n, and is not `from`."""
    found: dict[str, str] = {}
    for size, (word, letters, mask) in {1: ("char", "qi", "long long"), 2: ("short", "hi", "int"), 4: ("int", "si", "short"), 8: ("long long", "di", "char")}.items():
        needs = "defined(__AVX512BW__)" + (" && defined(__AVX512VBMI2__)" if size < 4 else "")
        fast = (
            f"#if {needs} && defined(__GNUC__) && !defined(__clang__)\n"
            "    typedef char at_flags __attribute__((vector_size(64)));\n"
            f"    typedef {word} at_lanes __attribute__((vector_size(64)));\n"
            "    for (; i + 64 <= n; i += 64) { /* whole vectors are stored: what was not kept is stored over, or never read */\n"
            "        at_flags b;\n        memcpy(&b, flags + i, sizeof b);\n"
            "        const unsigned long long m = __builtin_ia32_ptestmb512(b, b, -1ull);\n"
            "        if (m == 0) continue;\n"
            f"        for (int l = 0; l < 64; l += {64 // size}) {{\n"
            f"            const unsigned {mask} kept = (unsigned {mask})(m >> l);\n"
            f"            at_lanes v;\n            memcpy(&v, f + (i + l) * {size}, sizeof v);\n"
            f"            v = __builtin_ia32_compress{letters}512_mask(v, v, kept);\n"
            f"            memcpy(t + c * {size}, &v, sizeof v);\n"
            "            c += __builtin_popcountll(kept);\n        }\n    }\n#endif\n"
        )
        found[f"at_compress_{size}"] = (
            f"static int64_t at_compress_{size}(const void *from, const bool *flags, void *to, int64_t n) {{\n"
            f"    const char *f = from;\n    char *t = to;\n    int64_t c = 0, i = 0;\n{fast}"
            f"    for (; i < n; i++) {{\n        memcpy(t + c * {size}, f + i * {size}, {size});\n        c += flags[i];\n    }}\n    return c;\n}}"
        )
    return found


def _sum_helpers() -> dict[str, str]:
    """Sums with an error that grows with the logarithm of their length."""
    found: dict[str, str] = {}
    for d in (*_FLOATS, DTYPES["c64"], DTYPES["c128"]):
        t = d.c_name
        found[f"at_sum_{d.name}"] = (
            f"/* a running sum kept as a binary counter of partial sums */\n"
            f"typedef struct {{ {t} part[{SUM_PARTS}]; {t} low; int64_t count; int top; }} at_sum_{d.name};\n"
            f"static inline void at_sum_add_{d.name}(at_sum_{d.name} *s, {t} x) {{\n"
            f"    s->low += x;\n    if (++s->count % 32 == 0) {{\n        {t} y = s->low;\n        s->low = 0;\n"
            f"        for (int64_t k = s->count / 32; k % 2 == 0; k /= 2) y = s->part[--s->top] + y;\n"
            f"        s->part[s->top++] = y;\n    }}\n}}\n"
            f"static inline {t} at_sum_total_{d.name}(at_sum_{d.name} *s) {{\n"
            f"    {t} y = s->low;\n    while (s->top > 0) y = s->part[--s->top] + y;\n    return y;\n}}"
        )
    return found


def folds(op: str, dtype: DType, lanes: int) -> str:
    """The name of the function that combines lanes of floats, the upper half into the lower one until the first has all of them; `least` and `most` are comparisons."""
    return f"at_fold_{op}_{dtype.name}_{lanes}"


def _fold_helpers() -> dict[str, str]:
    """Each step a loop of its own, so that lanes stay in registers."""
    found: dict[str, str] = {}
    for d in _FLOATS:
        for op, how in (("add", "x[l] + x[l + {h}]"), ("least", "x[l] < x[l + {h}] ? x[l] : x[l + {h}]"), ("most", "x[l] > x[l + {h}] ? x[l] : x[l + {h}]")):
            for power in range(2, 8):
                steps = "".join(f"    for (int l = 0; l < {h}; l++) x[l] = {how.format(h=h)};\n" for h in (1 << k for k in reversed(range(power))))
                found[folds(op, d, 1 << power)] = f"static inline void {folds(op, d, 1 << power)}({d.c_name} *x) {{\n{steps}}}"
    return found


def _product_helpers() -> dict[str, str]:
    """Products of a few numbers, which are not worth a call of the runtime's: one function for all of them, so that no program has loops of its own to compile.
    at_product_<type> is the usual product, of matrices with one index to sum over."""
    found: dict[str, str] = {}
    for d in (DTYPES["f32"], DTYPES["f64"]):
        t = d.c_name
        found[f"at_tiny_{d.name}"] = f"""static __attribute__((noinline, unused)) void at_tiny_{d.name}(const at_product *p) {{
    int64_t n[4] = {{1, 1, 1, 1}}, left[4] = {{0}}, right[4] = {{0}};
    for (int l = 0; l < p->levels; l++) {{
        const int to = 4 - p->levels + l;
        n[to] = p->extent[l], left[to] = p->a_k[l], right[to] = p->b_k[l];
    }}
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {{
            {t} *c = ({t} *)p->c + i * p->c_m + j, s = p->adds ? *c : 0;
            for (int64_t k0 = 0; k0 < n[0]; k0++)
                for (int64_t k1 = 0; k1 < n[1]; k1++)
                    for (int64_t k2 = 0; k2 < n[2]; k2++) {{
                        const {t} *a = (const {t} *)p->a + i * p->a_m + k0 * left[0] + k1 * left[1] + k2 * left[2];
                        const {t} *b = (const {t} *)p->b + j * p->b_n + k0 * right[0] + k1 * right[1] + k2 * right[2];
                        for (int64_t k3 = 0; k3 < n[3]; k3++, a += left[3], b += right[3]) s += *a * *b;
                    }}
            *c = s;
        }}
}}"""
        found[f"at_product_{d.name}"] = f"""static __attribute__((noinline, unused)) int at_product_{d.name}(at_call *at, int64_t m, int64_t n, int64_t k, int64_t a_k, int64_t b_k, int64_t a_m, int64_t b_n, int64_t c_m, const {t} *a, const {t} *b, {t} *c, int adds) {{
    const at_product at_p = {{m, n, {{k}}, {{a_k}}, {{b_k}}, a_m, b_n, c_m, a, b, c, 1, adds}};
    if (m * n * k >= 64) return at_rt->product(at, &at_p, {int(d.size == 8)});
    at_tiny_{d.name}(&at_p);
    return 0;
}}"""
    return found


def _single_helpers() -> dict[str, str]:
    """Functions of C's library for one number: no compiler makes a vector's of them, whatever the options are. The name in parentheses is no macro's."""
    found: dict[str, str] = {}
    for d in _FLOATS:
        t, f = d.c_name, "f" if d.name == "f32" else ""
        for name, count in ops.singles().items():
            params, args = (f"{t} x", "x") if count == 1 else (f"{t} x, {t} y", "x, y")
            found[f"at_one_{name}{f}"] = f"static __attribute__((noipa, unused)) {t} at_one_{name}{f}({params}) {{ return ({name}{f})({args}); }}"
    return found


def _vector_helpers() -> dict[str, str]:
    """Vectors of floats that lie anywhere; what is held stays in a register."""
    found = {
        "at_hold": '#if defined(__x86_64__)\n#define at_hold(x) __asm__("" : "+v"(x))\n'
        "#else\n#define at_hold(x) (void)(x)\n#endif"
    }
    for d in _FLOATS:
        v, m, t = f"at_vector_{d.name}", f"at_mask_{d.name}", d.c_name
        whole = "int" if d.size == 4 else "long long"
        found[v] = f"typedef {t} {v} __attribute__((vector_size(32), aligned({d.size}), may_alias));"
        found[m] = f"typedef {whole} {m} __attribute__((vector_size(32)));"
        found[f"at_where_{d.name}"] = f"/* x where m holds, else 0 */\nstatic inline {v} at_where_{d.name}({m} m, {v} x) {{ return ({v})(({m})x & m); }}"
        found[f"at_some_{d.name}"] = (
            f"/* the elements from p on where m holds; no other is touched */\n"
            f"static inline {v} at_some_{d.name}(const {t} *p, {m} m) {{\n"
            f"#if defined(__AVX__)\n    typedef {t} whole __attribute__((vector_size(32)));\n"
            f"    return ({v})__builtin_ia32_maskloadp{'s' if d.size == 4 else 'd'}256((const whole *)p, m);\n"
            f"#else\n    {v} x = {{0}};\n    for (int k = 0; k < {32 // d.size}; k++) if (m[k]) x[k] = p[k];\n    return x;\n#endif\n}}"
        )
    return found


_ORDER = """/* Rounds of a loop stay one after the other: gcc puts some together that must not be. */
#if defined(__GNUC__)
#define at_order() __asm__ volatile("" ::: "memory")
#else
#define at_order() (void)0
#endif"""

HELPERS: dict[str, str] = {
    "at_order": _ORDER,
    **_integer_helpers(),
    **_float_helpers(),
    **_complex_helpers(),
    **_index_helpers(),
    **STORAGE_HELPERS,
    **_sum_helpers(),
    **_fold_helpers(),
    **_single_helpers(),
    **_vector_helpers(),
    **_product_helpers(),
    **_copy_helpers(),
    **_stream_helpers(),
    **_compress_helpers(),
}
_NAME = re.compile(r"\bat_[a-z0-9_]+\b")
_PROVIDES = {f"at_sum_{part}_{d}": f"at_sum_{d}" for part in ("add", "total") for d in ("f32", "f64", "c64", "c128")}


def right_with_gcc() -> str:
    """For C that is compiled by others: what gcc gets wrong (known_wrong.py) is switched off there too."""
    off = [option.removeprefix("-f") for p in probes() if p.name in ("distribution", "fission", "jam", "unordered") for option in p.without]
    return f"""/* Optimisations that some versions of gcc get wrong. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("{'", "'.join(off)}")
#endif"""


def needed(text: str) -> list[str]:
    """The helpers a piece of C uses, each after those it uses itself."""
    return needed_by(_NAME.findall(text))


def needed_by(words: Iterable[str]) -> list[str]:
    """The same for the words of it."""
    order: dict[str, None] = {}
    words = list(words)
    helpers, provides = HELPERS, _PROVIDES
    if any(word.startswith("at_portable_") for word in words):
        own, parts = portable_math.helpers()
        helpers, provides = helpers | own, provides | parts

    def visit(names: Iterable[str]) -> None:
        for name in names:
            name = provides.get(name, name)
            if name in helpers and name not in order:
                inner = [n for n in _NAME.findall(helpers[name]) if provides.get(n, n) != name]
                visit(inner)
                order[name] = None

    visit(words)
    return [helpers[name] for name in order]
