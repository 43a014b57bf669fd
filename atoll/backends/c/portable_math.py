'''Functions of numbers that have the same bits on every processor: one text for C and for CUDA, made of additions, multiplications, divisions, square roots and `fma`, which
IEEE 754 rounds in one way, and of operations on bits.

    at_portable_<name>_f64      the text; a `float` is computed as a double and rounded, a complex number by the functions of its parts
    exp log sin tanh ...        the functions of vector_math.py, without branches: loops that call them run in vectors
    pow, lgamma, tgamma         by logarithms and exponentials in two doubles
    erf, erfc, lgamma, tgamma   by polynomials on intervals (portable_tables.py), lgamma and tgamma above 8 and 12 by Stirling's series

How far they are from the exact values is measured by tests/portable/test_functions.py and stands in docs/bits.md. The compiler must not contract a*b + c
(-ffp-contract=off, --fmad=false).
'''

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from fractions import Fraction

from atoll.backends.c import vector_math
from atoll.backends.c.portable_tables import TABLES
from atoll.backends.c.vector_math import _log2, _number, _pi, _pieces, _series
from atoll.core.portable import OF_TWO, REAL

_MACRO = """#if defined(__GNUC__) && !defined(__CUDACC__)
#define AT_OWN static inline __attribute__((always_inline)) /* a call would keep a loop out of vectors */
#else
#define AT_OWN static inline
#endif
"""


# gcc 12 makes fused operations of products that are added and subtracted in turn (tree-vect-slp-patterns), whatever it is told; it does not look through this.
_PRODUCT = """static inline {c} at_portable_mul_{t}({c} a, {c} b) {{
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && __GNUC__ >= 12
    return __builtin_assoc_barrier(a * b);
#else
    return a * b;
#endif
}}"""


def _table(name: str, u: str) -> str:
    """A polynomial of a table by Horner's rule."""
    numbers = TABLES[name]
    text = numbers[-1]
    for c in reversed(numbers[:-1]):
        text = f"fma({text}, {u}, {c})"
    return text


def _log_pair() -> str:
    high, low = _pieces(_log2(), 2, 32)
    two_thirds = _pieces(Fraction(2, 3), 2)
    series = _series([Fraction(2, 2 * k + 5) for k in range(10)], "z")
    return f'''/* the logarithm of x > 0 as a sum of two doubles, to some 68 bits: twice the inverse tanh of s = f/(2 + f), its first two terms in two doubles */
AT_OWN double at_log_pair(double x, double *low) {{
    double k;
    const double f = at_log_split(x, &k), d = 2.0 + f, dl = f - (d - 2.0), s = f / d, sl = (fma(-s, d, f) - s * dl) / d;
    const double z = s * s, zl = fma(s, s, -z) + 2.0 * s * sl, p = z * {two_thirds[0]}, pl = fma(z, {two_thirds[0]}, -p) + fma(zl, {two_thirds[0]}, z * {two_thirds[1]});
    const double q = z * z * {series}, m = p + q, ml = ((p - m) + q) + pl, u = s * m, ul = fma(s, m, -u) + fma(s, ml, sl * m);
    const double kh = k * {high}, a = kh + 2.0 * s, ab = a - kh, ae = (kh - (a - ab)) + (2.0 * s - ab), b = a + u, bb = b - a, be = (a - (b - bb)) + (u - bb);
    const double rest = (ae + be) + fma(k, {low}, fma(2.0, sl, ul)), y = b + rest;
    *low = rest - (y - b);
    return y;
}}'''


def _exp_pair() -> str:
    return f'''/* the exponential of x + low, low small */
AT_OWN double at_exp_pair(double x, double low) {{
    low = x > 710.0 || x < -750.0 ? 0.0 : low;
    x = x > 710.0 ? 710.0 : x;
    x = x < -750.0 ? -750.0 : x;
    const double k = fma(x, {_number(1 / _log2())}, AT_ROUNDING) - AT_ROUNDING;
    const double p = at_expm1_near(at_exp_rest(x, k) + low), t = fma(k, 0.5, AT_ROUNDING);
    const double s = at_two_to(t);
    return fma(p, s, s) * at_two_to(k - (t - AT_ROUNDING) + AT_ROUNDING);
}}'''


def _atan_part() -> str:
    series = _series([Fraction((-1) ** (k + 1), 2 * k + 3) for k in range(22)], "z")
    return f'''/* the arc tangent of a >= 0 plus high + low: the argument is brought below tan(pi/8) */
AT_OWN double at_atan_of(double num, double den, double high, double low) {{
    const double u = num / den, z = u * u;
    return high + (fma(u * z, {series}, low) + u);
}}'''


def _atan() -> str:
    quarter, half = _pieces(_pi() / 4, 2), _pieces(_pi() / 2, 2)
    return f'''AT_OWN double at_portable_arctan_f64(double x) {{
    const double a = fabs(x);
    const int far = a > 0x1.3504f333f9de6p+1, near = a < 0x1.a827999fcef34p-2;
    const double y = at_atan_of(far ? -1.0 : near ? a : a - 1.0, far ? a : near ? 1.0 : a + 1.0, far ? {half[0]} : near ? 0.0 : {quarter[0]}, far ? {half[1]} : near ? 0.0 : {quarter[1]});
    return copysign(a != a ? a : near && a < 0x1p-27 ? a : y, x);
}}'''


def _atan2() -> str:
    pi, half = _pieces(_pi(), 2), _pieces(_pi() / 2, 2)
    return f'''AT_OWN double at_portable_arctan2_f64(double y, double x) {{
    const double a = fabs(x), b = fabs(y), more = a > b ? a : b, less = a > b ? b : a;
    const double q = more == 0.0 ? 0.0 : less == INFINITY ? 1.0 : less / more, t = at_portable_arctan_f64(q);
    double r = b > a ? {half[0]} - (t - {half[1]}) : t;
    r = signbit(x) ? {pi[0]} - (r - {pi[1]}) : r;
    return x != x || y != y ? NAN : copysign(r, y);
}}'''


def _asin_part() -> str:
    series = [Fraction(math.comb(2 * k, k), 4**k * (2 * k + 1)) for k in range(1, 28)]
    return f'''/* the arc sine of x, less x, of |x| <= 1/2, by z = x*x */
AT_OWN double at_asin_rest(double x, double z) {{ return x * z * {_series(series, "z")}; }}
/* the arc sine of the square root of w <= 1/4, the root in two doubles */
AT_OWN double at_asin_root(double w) {{
    const double s = sqrt(w), c = s > 0.0 ? fma(-s, s, w) / (s + s) : 0.0;
    return s + (at_asin_rest(s, w) + c);
}}'''


def _asin() -> str:
    half = _pieces(_pi() / 2, 2)
    return f'''AT_OWN double at_portable_arcsin_f64(double x) {{
    const double a = fabs(x), near = a + at_asin_rest(a, a * a), far = {half[0]} - (2.0 * at_asin_root((1.0 - a) * 0.5) - {half[1]});
    return copysign(a <= 1.0 ? a <= 0.5 ? near : far : NAN, x);
}}'''


def _acos() -> str:
    pi, half = _pieces(_pi(), 2), _pieces(_pi() / 2, 2)
    return f'''AT_OWN double at_portable_arccos_f64(double x) {{
    const double a = fabs(x), near = {half[0]} - (x + (at_asin_rest(x, x * x) - {half[1]})), root = 2.0 * at_asin_root((1.0 - a) * 0.5);
    return a <= 1.0 ? a <= 0.5 ? near : x > 0.0 ? root : {pi[0]} - (root - {pi[1]}) : NAN;
}}'''


_SIMPLE = {
    "at_portable_arcsinh_f64": '''AT_OWN double at_portable_arcsinh_f64(double x) {
    const double a = fabs(x), b = a > 0x1p28 ? 1.0 : a, z = b * b;
    const double near = at_portable_log1p_f64(b + z / (1.0 + sqrt(z + 1.0))), far = at_portable_log_f64(a) + LOG2;
    return copysign(a != a ? a : a > 0x1p28 ? far : near, x);
}''',
    "at_portable_arccosh_f64": '''AT_OWN double at_portable_arccosh_f64(double x) {
    const double t = (x > 0x1p28 ? 2.0 : x) - 1.0, near = at_portable_log1p_f64(t + sqrt(fma(t, t, t + t))), far = at_portable_log_f64(x) + LOG2;
    return x >= 1.0 ? x > 0x1p28 ? far : near : NAN;
}''',
    "at_portable_arctanh_f64": '''AT_OWN double at_portable_arctanh_f64(double x) {
    const double a = fabs(x), t = a + a;
    return copysign(0.5 * at_portable_log1p_f64(a < 0.5 ? t + t * a / (1.0 - a) : t / (1.0 - a)), a <= 1.0 ? x : 1.0);
}''',
    "at_portable_cbrt_f64": '''AT_OWN double at_portable_cbrt_f64(double x) {
    const double a = fabs(x), small = a < 0x1p-1022 ? 0x1p54 : 1.0, y = a * small;
    double r = at_of_bits(at_bits_of(y) / 3 + 0x2a9f7893782da1ce);
    for (int k = 0; k < 3; k++) { /* Halley's rule: three times the digits */
        const double c = r * r * r;
        r = r * ((c + y + y) / (c + c + y));
    }
    const double s = r * r, e = fma(r, r, -s);
    r -= (fma(s, r, -y) + e * r) / (3.0 * s);
    return copysign(a > 0.0 && a < INFINITY ? r * (small > 1.0 ? 0x1p-18 : 1.0) : a, x);
}''',
    "at_portable_hypot_f64": '''AT_OWN double at_portable_hypot_f64(double x, double y) {
    const double a = fabs(x), b = fabs(y), more = a > b ? a : b, less = a > b ? b : a;
    const double scale = more > 0x1p500 ? 0x1p-600 : more < 0x1p-450 ? 0x1p600 : 1.0, back = more > 0x1p500 ? 0x1p600 : more < 0x1p-450 ? 0x1p-600 : 1.0;
    const double u = more * scale, v = less * scale, s = u * u, e = fma(u, u, -s), t = s + v * v, r = sqrt(t), left = fma(-r, r, t) + (((s - t) + v * v) + (e + fma(v, v, -(v * v))));
    const double z = (r + (r > 0.0 && r < INFINITY ? left / (r + r) : 0.0)) * back;
    return a == INFINITY || b == INFINITY ? INFINITY : x != x || y != y ? NAN : z;
}''',
    "at_portable_pow_f64": '''static double at_portable_pow_f64(double x, double y) {
    const double a = fabs(x), whole = floor(y);
    const int is_whole = whole == y, odd = is_whole && fabs(y) < 0x1p53 && floor(y * 0.5) * 2.0 != y;
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return NAN;
    if (fabs(y) == INFINITY) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    if (a == 0.0 || a == INFINITY) {
        const double r = (a == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
        return odd ? copysign(r, x) : r;
    }
    if (x < 0.0 && !is_whole) return NAN;
    double low;
    const double l = at_log_pair(a, &low), p = y * l;
    const double r = p > 800.0 ? INFINITY : p < -800.0 ? 0.0 : at_exp_pair(p, fma(y, l, -p) + y * low);
    return odd && x < 0.0 ? -r : r;
}''',
    "at_portable_copysign_f64": "AT_OWN double at_portable_copysign_f64(double x, double y) { return y != y ? fabs(x) : copysign(x, y); }",
    "at_portable_signbit_f64": "AT_OWN bool at_portable_signbit_f64(double x) { return x == x && signbit(x) != 0; }",
    "at_portable_signbit_f32": "AT_OWN bool at_portable_signbit_f32(float x) { return x == x && signbit(x) != 0; }",
}


def _erf() -> str:
    return f'''static double at_portable_erf_f64(double x) {{
    const double a = fabs(x), z = a < 0.55 ? a * a : 0.0;
    const double near = a * {_table("erf_small", "u")};
    return copysign(a != a ? a : a < 0.55 ? near : a > 6.0 ? 1.0 : 1.0 - at_erfc_far(a), x);
}}'''.replace("    const double near", f"    const double u = fma(z, {_number(1 / (Fraction(0.25 * 1.21) / 2))}, -1.0);\n    const double near")


def _erfc_far() -> str:
    return f'''/* erfc of a >= 1/2: the exponential of -a*a times a polynomial, or times one of 1/a**2 by a */
static double at_erfc_far(double a) {{
    const double h = a * a, e = at_exp_pair(-h, a < 30.0 ? -fma(a, a, -h) : 0.0);
    double u, g;
    if (a < 1.25) {{
        u = (a - 0.875) / 0.375;
        g = {_table("erfc_1", "u")};
    }} else if (a < 2.5) {{
        u = (a - 1.875) * 1.6;
        g = {_table("erfc_2", "u")};
    }} else if (a < 5.5) {{
        u = (a - 4.0) / 1.5;
        g = {_table("erfc_3", "u")};
    }} else {{
        u = fma(60.5, 1.0 / h, -1.0);
        g = {_table("erfc_4", "u")} / a;
    }}
    return e * g;
}}'''


def _erfc() -> str:
    return '''static double at_portable_erfc_f64(double x) {
    const double a = fabs(x);
    if (x != x) return x;
    if (a < 0.5) return 1.0 - at_portable_erf_f64(x);
    const double y = a > 28.0 ? 0.0 : at_erfc_far(a);
    return x > 0.0 ? y : 2.0 - y;
}'''


def _stirling() -> str:
    numbers = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400), (43867, 244188)]
    half = _pieces(_half_log_two_pi(), 2)
    return f'''/* lgamma of x >= 8 as a sum of two doubles */
static double at_stirling(double x, double *low) {{
    double l;
    const double log = at_log_pair(x, &l), a = x - 0.5, p = a * log, pl = fma(a, log, -p) + a * l, w = 1.0 / x, z = w * w;
    const double series = w * {_series([Fraction(n, d) for n, d in numbers], "z")};
    const double t = p - x, tb = t - p, te = (p - (t - tb)) - (x + tb), s = t + {half[0]}, sb = s - t, se = (t - (s - sb)) + ({half[0]} - sb);
    const double rest = (te + se) + (pl + ({half[1]} + series)), y = s + rest;
    *low = rest - (y - s);
    return y;
}}'''


def _half_log_two_pi() -> Fraction:
    """log(2 pi) / 2: log(2)/2 + log(pi)/2, the last by 2 atanh((pi - 3)/(pi + 3)) and log(3) = log(2) + 2 atanh(1/5)."""

    def atanh(x: Fraction) -> Fraction:
        return sum((x ** (2 * k + 1) / (2 * k + 1) for k in range(60)), Fraction(0))

    pi = Fraction(round(_pi() * 2**300), 2**300)
    return (2 * _log2() + 2 * atanh(Fraction(1, 5)) + 2 * atanh((pi - 3) / (pi + 3))) / 2


def _lgamma() -> str:
    return f'''static double at_sin_of_pi_times(double x) {{ /* the sine of pi*x, without its sign */
    return fabs(at_portable_sin_f64({_number(_pi())} * (x - rint(x))));
}}
static double at_lgamma_positive(double x) {{
    double p = 1.0, u;
    if (x >= 8.0) {{
        double low;
        return x > 0x1p1014 ? x * (at_portable_log_f64(x) - 1.0) : at_stirling(x, &low);
    }}
    if (x < 1.0) {{
        u = fma(2.0, x, -1.0);
        return x * (x - 1.0) * {_table("lgamma_1", "u")} - at_portable_log_f64(x);
    }}
    if (x < 2.0) {{
        u = fma(2.0, x, -3.0);
        return (x - 1.0) * (x - 2.0) * {_table("lgamma_1", "u")} + 0.0;
    }}
    while (x >= 3.0) {{
        x -= 1.0;
        p *= x;
    }}
    u = fma(2.0, x, -5.0);
    return (x - 1.0) * (x - 2.0) * {_table("lgamma_2", "u")} + at_portable_log_f64(p);
}}
static double at_portable_lgamma_f64(double x) {{
    if (x != x) return x;
    if (fabs(x) == INFINITY || (x <= 0.0 && x == floor(x))) return INFINITY;
    if (x > 0.0) return at_lgamma_positive(x);
    return at_portable_log_f64({_number(_pi())} / (fabs(x) * at_sin_of_pi_times(x))) - at_lgamma_positive(-x);
}}'''


def _tgamma() -> str:
    return f'''static double at_portable_tgamma_f64(double x) {{
    if (x != x || x == INFINITY) return x;
    if (x == 0.0) return copysign(INFINITY, x);
    if (x < 0.0 && x == floor(x)) return NAN;
    if (x > 172.0) return INFINITY;
    double low;
    if (x >= 12.0) {{
        const double l = at_stirling(x, &low);
        return at_exp_pair(l, low);
    }}
    if (x <= -12.0) {{
        const double l = at_stirling(-x, &low), y = x < -190.0 ? 0.0 : at_exp_pair(-l, -low) * ({_number(_pi())} / (-x * at_sin_of_pi_times(x)));
        return floor(x * 0.5) * 2.0 != floor(x) ? -y : y;
    }}
    double p = 1.0, d = 1.0, e = 0.0;
    while (x >= 3.0) {{ /* what a product loses is kept */
        x -= 1.0;
        const double q = p * x;
        e = fma(e, x, fma(p, x, -q));
        p = q;
    }}
    p += e;
    e = 0.0;
    while (x < 2.0) {{
        const double q = d * x;
        e = fma(e, x, fma(d, x, -q));
        d = q;
        x += 1.0;
    }}
    d += e;
    const double u = fma(2.0, x, -5.0);
    return {_table("gamma", "u")} * p / d;
}}'''


def _complex(name: str) -> str:
    t = "double complex"
    head = f"static {t} at_portable_{name}_c128({t} z{', ' + t + ' w' if name == 'pow' else ''}) {{\n    const double x = creal(z), y = cimag(z);\n"
    body = {
        "exp": "    const double r = at_portable_exp_f64(x);\n    return at_complex_c128(y == 0 ? r : r * at_portable_cos_f64(y), y == 0 ? y : r * at_portable_sin_f64(y));",
        "log": "    return at_complex_c128(at_portable_log_f64(at_portable_hypot_f64(x, y)), at_portable_arctan2_f64(y, x));",
        "sin": "    return at_complex_c128(at_portable_mul_f64(at_portable_sin_f64(x), at_portable_cosh_f64(y)), at_portable_mul_f64(at_portable_cos_f64(x), at_portable_sinh_f64(y)));",
        "cos": "    return at_complex_c128(at_portable_mul_f64(at_portable_cos_f64(x), at_portable_cosh_f64(y)), -(at_portable_mul_f64(at_portable_sin_f64(x), at_portable_sinh_f64(y))));",
        "sqrt": """    if (x == 0 && y == 0) return at_complex_c128(0, y);
    if (fabs(y) == INFINITY) return at_complex_c128(INFINITY, y);
    const double m = fabs(x) > fabs(y) ? fabs(x) : fabs(y), s = m > 0x1p900 ? 0x1p-60 : m < 0x1p-900 ? 0x1p60 : 1.0, b = m > 0x1p900 ? 0x1p30 : m < 0x1p-900 ? 0x1p-30 : 1.0;
    const double re = x * s, im = y * s, t = sqrt((fabs(re) + at_portable_hypot_f64(re, im)) * 0.5);
    return re >= 0 ? at_complex_c128(t * b, im / (2 * t) * b) : at_complex_c128(fabs(im) / (2 * t) * b, at_portable_copysign_f64(t, y) * b);""",
        "pow": """    if (x == 0 && y == 0) return creal(w) == 0 && cimag(w) == 0 ? at_complex_c128(1, 0) : at_complex_c128(0, 0);
    const double complex l = at_portable_log_c128(z);
    return at_portable_exp_c128(at_portable_mul_c128(l, w));""",
    }[name]
    return f"{head}{body}\n}}"


_RENAMED = re.compile(r"at_own_(\w+)")


def _from_vectors(text: str) -> str:
    """A function of vector_math.py under its name here."""
    return _RENAMED.sub(r"at_portable_\1_f64", text)


@functools.cache
def helpers() -> tuple[dict[str, str], dict[str, str]]:
    """The texts by name, and which text provides a name that is not its own. Made when first asked for: pi to 1,300 bits takes its time."""
    from atoll.backends.c.prelude import HELPERS as special  # digamma and trigamma, which call others

    found: dict[str, str] = {}
    provides: dict[str, str] = {}

    def part(name: str, text: str, *others: str) -> None:
        found[name] = text
        provides.update(dict.fromkeys(others, name))

    part("at_of_bits", _MACRO + vector_math._BITS[vector_math._BITS.index("AT_OWN double at_of_bits") :], "at_bits_of", "at_two_to")
    makers: dict[str, tuple[list[str], Callable[[], str]]] = vector_math._PARTS
    part("at_exp_rest", makers["exp_part"][1](), "at_expm1_near")
    part("at_exp_half", makers["exp_half"][1]())
    part("at_log_split", makers["log_part"][1](), "at_log_rest", "at_log_ends")
    part("at_turns", makers["turns"][1](), "at_sin_near", "at_cos_near", "at_within_2", "at_two_by_pi")
    for name, (_, make) in vector_math._KERNELS.items():
        part(f"at_portable_{name}_f64", _from_vectors(make()))
    part("at_log_pair", _log_pair())
    part("at_exp_pair", _exp_pair())
    part("at_atan_of", _atan_part())
    part("at_asin_root", _asin_part(), "at_asin_rest")
    part("at_portable_arctan_f64", _atan())
    part("at_portable_arctan2_f64", _atan2())
    part("at_portable_arcsin_f64", _asin())
    part("at_portable_arccos_f64", _acos())
    part("at_erfc_far", _erfc_far())
    part("at_portable_erf_f64", _erf())
    part("at_portable_erfc_f64", _erfc())
    part("at_stirling", _stirling())
    part("at_portable_lgamma_f64", _lgamma(), "at_sin_of_pi_times", "at_lgamma_positive")
    part("at_portable_tgamma_f64", _tgamma())
    for name, text in _SIMPLE.items():
        part(name, text.replace("LOG2", _number(_log2())))
    for name in ("digamma", "trigamma"):
        part(f"at_portable_{name}_f64", re.sub(r"\b(log|sin|tan)\(", r"at_portable_\1_f64(", special[f"at_{name}_f64"]).replace(f"at_{name}_f64", f"at_portable_{name}_f64"))
    for name in REAL:
        if f"at_portable_{name}_f32" not in found:
            given, args = ("float x, float y", "(double)x, (double)y") if name in OF_TWO else ("float x", "(double)x")
            part(f"at_portable_{name}_f32", f"AT_OWN float at_portable_{name}_f32({given}) {{ return (float)at_portable_{name}_f64({args}); }}")
    for t, c in (("f32", "float"), ("f64", "double")):
        part(f"at_portable_mul_{t}", _PRODUCT.format(t=t, c=c))
    for name in ("mul", "div", "abs"):
        for t, f in (("c64", "f32"), ("c128", "f64")):
            text = special[f"at_{name}_{t}"].replace(f"at_{name}_{t}", f"at_portable_{name}_{t}")
            part(f"at_portable_{name}_{t}", re.sub(r"\b([a-z]+) \* ([a-z]+)\b", rf"at_portable_mul_{f}(\1, \2)", text))
    for name in ("exp", "log", "sqrt", "sin", "cos", "pow"):
        part(f"at_portable_{name}_c128", _complex(name))
        given, args = ("float complex z, float complex w", "(double complex)z, (double complex)w") if name == "pow" else ("float complex z", "(double complex)z")
        part(f"at_portable_{name}_c64", f"static float complex at_portable_{name}_c64({given}) {{ return (float complex)at_portable_{name}_c128({args}); }}")
    # the macro comes with the first text, which none of the others calls by itself
    return {name: text if name == "at_of_bits" or "AT_OWN" not in text else f"/* at_of_bits comes first */\n{text}" for name, text in found.items()}, provides
