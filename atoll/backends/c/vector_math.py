'''Transcendental functions in loops that run in vectors.

With gcc and glibc on x86 a declaration lets the compiler call the vector functions of libmvec. Elsewhere (clang, zig, musl, ARM) the functions below stand in
for those of the C library, where the processor has fused multiply-add: they have no branches and no calls, so any compiler puts them in vectors.
Every one is within 4 units in the last place for all arguments (tests/speed/test_transcendental.py); functions of f32 are those of f64 rounded.
AT_OWN_MATH chooses them where libmvec would serve.

How they work: exponents and whole numbers are read and written as bits of doubles, by adding 1.5 * 2**52 where a number is rounded. Series are Taylor's,
on ranges where they are short: exp on |r| <= log(2)/2, log as 2 atanh(f / (2 + f)) for |f| < 0.42, sine and cosine on |r| <= pi/4. Arguments
of sine and cosine are multiplied by 2/pi to 200 bits; of an argument of 2**32 and more only the bits that matter modulo 4 are multiplied, from a table
with a row for every 32 powers of two.
'''

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection
from fractions import Fraction

from atoll.core.prims import PRIMS

FUNCTIONS = [p.c for p in PRIMS.values() if p.vector]
_CALLED = re.compile(r"\b(\w+)\(")
_OF_TWO = [p.c for p in PRIMS.values() if p.vector and p.arity == 2]
_FASTER = ("tanh",)  # those that are faster than libmvec's (1.6 against 2.5 ns on Zen 4)
_ROWS = 33  # rows of the table of 2/pi: one for every 32 powers of two, and one for what is not finite


def declarations(text: str) -> str:
    """What stands before C `text` so that its calls of mathematical functions can run in vectors."""
    return declarations_by(set(_CALLED.findall(text)))


def declarations_by(called: Collection[str]) -> str:
    """The same for the names of functions that are called."""
    used = [(name, f) for name in FUNCTIONS for f in ("", "f") if f"{name}{f}" in called]
    if not used:
        return ""
    lines = ["#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(AT_OWN_MATH)", "#define AT_LIBMVEC"]
    for name, f in used:
        t = "float" if f else "double"
        params = f"{t}, {t}" if name in _OF_TWO else t
        lines.append(f'__attribute__((simd("notinbranch"), const)) {t} {name}{f}({params});')
    lines.append("#endif")
    fused = "#if defined(__FP_FAST_FMA) && defined(__OPTIMIZE__)"
    there: dict[str, str] = {}
    for condition, faster in ((fused, True), (f"{fused} && !defined(AT_LIBMVEC)", False)):
        own = [(name, f) for name, f in used if name in _KERNELS and (name + f in _FASTER) == faster]
        if own:
            lines += [condition, *_with_needs([name for name, _ in own], there)]
            lines += [f"#define {name}{f}(x) {'(float)' if f else ''}at_own_{name}(x)" for name, f in own]
            lines.append("#endif")
    return "\n".join(lines)


def _with_needs(names: list[str], there: dict[str, str]) -> list[str]:
    """The texts of functions after those they need, without those that are `there`, to which they are added."""
    before = len(there)

    def visit(name: str) -> None:
        needs, text = _KERNELS[name] if name in _KERNELS else _PARTS[name]
        for other in needs:
            visit(other)
        if name not in there:
            there[name] = text()

    for name in names:
        visit(name)
    return list(there.values())[before:]


def _series(coefficients: list[Fraction], x: str) -> str:
    """A polynomial by Horner's rule, the constant first."""
    text = _number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        text = f"fma({text}, {x}, {_number(c)})"
    return text


def _number(value: Fraction) -> str:
    return float(value).hex()


def _pieces(value: Fraction, count: int, bits: int = 53) -> list[str]:
    """A number as a sum of doubles, each the nearest to what is left; `bits` of it in all but the last."""
    found = []
    for k in range(count):
        piece = Fraction(float(value))
        if bits < 53 and k < count - 1 and value:
            unit = Fraction(2) ** (math.frexp(float(value))[1] - bits)
            piece = (value // unit) * unit
        found.append(float(piece).hex())
        value -= piece
    return found


@functools.cache
def _log2() -> Fraction:
    """log(2) to some 300 bits: the sum of 1 / (k * 2**k)."""
    return sum((Fraction(1, k << k) for k in range(1, 300)), Fraction(0))


@functools.cache
def _log10() -> Fraction:
    """log(10) = 3 log(2) + log(1.25), the last as 2 atanh(1/9)."""
    return 3 * _log2() + 2 * sum((Fraction(1, (2 * k + 1) * 9 ** (2 * k + 1)) for k in range(60)), Fraction(0))


@functools.cache
def _pi() -> Fraction:
    """pi to some 1300 bits, by Machin's formula."""
    one = 1 << 1400

    def arctan_of_inverse(n: int) -> int:
        total, term, k = 0, one // n, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term //= n * n
            k += 2
        return total

    return Fraction(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)), one)


def _factorials(count: int, first: int, step: int, sign: int = 1) -> list[Fraction]:
    return [Fraction(sign**k, math.factorial(first + k * step)) for k in range(count)]


_BITS = '''#define AT_OWN static inline __attribute__((always_inline)) /* a call would keep a loop out of vectors */
AT_OWN double at_of_bits(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
AT_OWN uint64_t at_bits_of(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
#define AT_ROUNDING 0x1.8p52 /* added to a double: the nearest whole number is in its last bits */
AT_OWN double at_two_to(double with_rounding) { return at_of_bits((at_bits_of(with_rounding) + 1023) << 52); }'''


def _exp_part() -> str:
    high, low = _pieces(_log2(), 2)
    # e**r - 1 on |r| <= log(2)/2: r + r*r*(1/2 + r/6 + ...)
    return f'''AT_OWN double at_expm1_near(double r) {{
    return fma({_series(_factorials(12, 2, 1), "r")}, r * r, r);
}}
/* x = k*log(2) + r */
AT_OWN double at_exp_rest(double x, double k) {{ return fma(k, -{low}, fma(k, -{high}, x)); }}'''


def _exp(name: str, scale_down: int, clamp: tuple[str, str]) -> str:
    """exp(x) * 2**-scale_down: the power of two in two factors, so that neither overflows before the result does."""
    less = f" - {scale_down}.0" if scale_down else ""
    return f'''AT_OWN double {name}(double x) {{
    x = x > {clamp[1]} ? {clamp[1]} : x;
    x = x < {clamp[0]} ? {clamp[0]} : x;
    const double k = fma(x, {_number(1 / _log2())}, AT_ROUNDING) - AT_ROUNDING;
    const double p = at_expm1_near(at_exp_rest(x, k)), t = fma(k, 0.5, AT_ROUNDING);
    const double s = at_two_to(t);
    return fma(p, s, s) * at_two_to(k{less} - (t - AT_ROUNDING) + AT_ROUNDING);
}}'''


def _exp2() -> str:
    high, low = _pieces(_log2(), 2)
    return f'''AT_OWN double at_own_exp2(double x) {{
    x = x > 1100.0 ? 1100.0 : x;
    x = x < -1200.0 ? -1200.0 : x;
    const double k = (x + AT_ROUNDING) - AT_ROUNDING, f = x - k;
    const double p = at_expm1_near(fma(f, {high}, f * {low})), t = fma(k, 0.5, AT_ROUNDING);
    const double s = at_two_to(t);
    return fma(p, s, s) * at_two_to(k - (t - AT_ROUNDING) + AT_ROUNDING);
}}'''


def _expm1() -> str:
    # 2**k * (e**r - 1) + (2**k - 1), with 2**k in two factors and the 1 divided by the second
    return f'''AT_OWN double at_own_expm1(double x) {{
    double y = x > 710.0 ? 710.0 : x;
    y = y < -50.0 ? -50.0 : y;
    const double k = fma(y, {_number(1 / _log2())}, AT_ROUNDING) - AT_ROUNDING;
    const double p = at_expm1_near(at_exp_rest(y, k)), t = fma(k, 0.5, AT_ROUNDING), rest = k - (t - AT_ROUNDING);
    const double s = at_two_to(t);
    y = fma(p, s, s - at_two_to(AT_ROUNDING - rest)) * at_two_to(rest + AT_ROUNDING);
    return x == 0.0 ? x : y;
}}'''


def _log_part() -> str:
    # log(1 + f) = f - s*(f - R) with s = f/(2 + f), R = 2 z (1/3 + z/5 + ...), z = s*s
    series = _series([Fraction(2, 2 * k + 3) for k in range(11)], "z")
    return f'''/* x > 0 as 2**k * (1 + f), 1 + f between the square roots of 1/2 and 2 */
AT_OWN double at_log_split(double x, double *k) {{
    const uint64_t small = x < 0x1p-1022, u = at_bits_of(small ? x * 0x1p54 : x), v = u - 0x3fe6a09e667f3bcd + ((uint64_t)1023 << 52);
    *k = (at_of_bits((v >> 52) | ((uint64_t)0x433 << 52)) - (0x1p52 + 1023.0)) - (small ? 54.0 : 0.0);
    return at_of_bits((v & (((uint64_t)1 << 52) - 1)) + 0x3fe6a09e667f3bcd) - 1.0;
}}
/* f - log(1 + f) */
AT_OWN double at_log_rest(double f) {{
    const double s = f / (2.0 + f), z = s * s;
    return s * (f - z * {series});
}}
AT_OWN double at_log_ends(double x, double y) {{
    y = x > 0.0 ? y : x == 0.0 ? -INFINITY : NAN;
    return x == INFINITY ? x : y;
}}'''


def _log() -> str:
    high, low = _pieces(_log2(), 2, 32)
    return f'''AT_OWN double at_own_log(double x) {{
    double k;
    const double f = at_log_split(x, &k);
    return at_log_ends(x, fma(k, {high}, f - fma(k, -{low}, at_log_rest(f))));
}}'''


def _log_to(name: str, of_two: list[str], inverse: Fraction) -> str:
    """The logarithm to another base: log(1 + f) in two doubles times 1/log(base), and k times the logarithm of 2."""
    high, low = _pieces(inverse, 2)
    return f'''AT_OWN double at_own_{name}(double x) {{
    double k;
    const double f = at_log_split(x, &k), rest = at_log_rest(f), y = f - rest, error = (f - y) - rest;
    const double p = y * {high}, q = fma(y, {high}, -p) + fma(y, {low}, error * {high});
    return at_log_ends(x, fma(k, {of_two[0]}, p + fma(k, {of_two[1]}, q)));
}}'''


def _log1p() -> str:
    high, low = _pieces(_log2(), 2, 32)
    return f'''AT_OWN double at_own_log1p(double x) {{
    const double u = 1.0 + x, b = u - 1.0, lost = (1.0 - (u - b)) + (x - b);
    double k;
    const double f = at_log_split(u, &k);
    double y = fma(k, {high}, f - (fma(k, -{low}, at_log_rest(f)) - lost / u));
    y = x > -1.0 ? y : x == -1.0 ? -INFINITY : NAN;
    return x == 0.0 || x == INFINITY ? x : y;
}}'''


def _sinh() -> str:
    return f'''AT_OWN double at_own_sinh(double x) {{
    const double a = fabs(x), h = at_exp_half(a), z = a * a;
    const double near = fma({_series(_factorials(9, 3, 2), "z")}, z * a, a);
    return copysign(a < 1.0 ? near : h - 0.25 / h, x);
}}'''


def _cosh() -> str:
    return '''AT_OWN double at_own_cosh(double x) {
    const double h = at_exp_half(fabs(x));
    return h + 0.25 / h;
}'''


def _tanh() -> str:
    return '''AT_OWN double at_own_tanh(double x) {
    const double a = fabs(x), t = at_own_expm1(a > 22.0 ? 44.0 : a + a);
    return copysign(a != a ? a : t / (t + 2.0), x);
}'''


def _turns_part() -> str:
    """The part of a quarter turn that is left of x, as a sum of two doubles times pi/2, and how many quarters (modulo 4)."""
    of_pi = 2 / _pi()  # elements of a row are read one by one below: gcc does not see loads through a pointer as a gather
    rows = []
    for row in range(_ROWS):
        value = of_pi * 2 ** (32 * row) % 2**54 if row < _ROWS - 1 else Fraction(0)
        rows.append("    " + ", ".join(_pieces(value, 4)) + ",")
    half = _pieces(_pi() / 2, 2)
    return (
        f"static const double at_two_by_pi[{4 * _ROWS}] = {{\n"
        + "\n".join(rows)
        + f'''
}};
AT_OWN double at_within_2(double x) {{ return fma(rint(x * 0.25), -4.0, x); }}
AT_OWN double at_turns(double x, double *low, uint64_t *quarter) {{
    const uint64_t e = (at_bits_of(x) >> 52) & 2047, row = e < 1055 ? 0 : (e - 1023) >> 5;
    const double p[4] = {{at_two_by_pi[4 * row], at_two_by_pi[4 * row + 1], at_two_by_pi[4 * row + 2], at_two_by_pi[4 * row + 3]}};
    x *= at_of_bits((1023 - 32 * row) << 52);
    const double a = x * p[0], b = fma(x, p[0], -a), c = x * p[1], d = fma(x, p[1], -c), g = x * p[2], h = fma(x, p[2], -g);
    /* whole numbers of four quarters fall away; what is left is added exactly, largest first */
    const double a4 = at_within_2(a), b4 = at_within_2(b), c4 = at_within_2(c);
    const double s = b4 + c4, sb = s - b4, s2 = (b4 - (s - sb)) + (c4 - sb);
    const double t = a4 + s, tb = t - a4, t2 = (a4 - (t - tb)) + (s - tb);
    const double with_k = t + AT_ROUNDING, r = t - (with_k - AT_ROUNDING);
    const double u = d + g, ub = u - d, u2 = (d - (u - ub)) + (g - ub);
    const double v = t2 + s2, vb = v - t2, v2 = (t2 - (v - vb)) + (s2 - vb);
    const double w = v + u, wb = w - v, w2 = (v - (w - wb)) + (u - wb);
    const double y = r + w, yb = y - r, y2 = (r - (y - yb)) + (w - yb);
    const double rest = y2 + (((w2 + v2) + u2) + fma(x, p[3], h));
    const double z = y * {half[0]};
    *quarter = at_bits_of(with_k);
    *low = fma(y, {half[0]}, -z) + fma(y, {half[1]}, rest * {half[0]});
    return z;
}}
AT_OWN double at_sin_near(double r, double low) {{
    const double z = r * r;
    return r + fma(z * r, {_series([-c for c in _factorials(8, 3, 2, -1)], "z")}, low * fma(z, -0.5, 1.0));
}}
AT_OWN double at_cos_near(double r, double low) {{
    const double z = r * r, half = 0.5 * z, one = 1.0 - half;
    return one + (((1.0 - one) - half) + fma(z * z, {_series(_factorials(7, 4, 2, -1), "z")}, -r * low));
}}'''
    )


def _sin_or_cos(name: str, ahead: int) -> str:
    tiny = "fabs(x) < 0x1p-26 ? x : y" if name == "sin" else "y"
    return f'''AT_OWN double at_own_{name}(double x) {{
    double low;
    uint64_t q;
    const double r = at_turns(x, &low, &q), s = at_sin_near(r, low), c = at_cos_near(r, low);
    q += {ahead};
    double y = q & 1 ? c : s;
    y = q & 2 ? -y : y;
    return {tiny};
}}'''


def _tan() -> str:
    return '''AT_OWN double at_own_tan(double x) {
    double low;
    uint64_t q;
    const double r = at_turns(x, &low, &q), s = at_sin_near(r, low), c = at_cos_near(r, low);
    const double y = q & 1 ? -c / s : s / c;
    return fabs(x) < 0x1p-26 ? x : y;
}'''


_PARTS: dict[str, tuple[list[str], Callable[[], str]]] = {
    "bits": ([], lambda: _BITS),
    "exp_part": (["bits"], _exp_part),
    "exp_half": (["exp_part"], lambda: _exp("at_exp_half", 1, ("-750.0", "712.0"))),
    "log_part": (["bits"], _log_part),
    "turns": (["bits"], _turns_part),
}
_KERNELS: dict[str, tuple[list[str], Callable[[], str]]] = {
    "exp": (["exp_part"], lambda: _exp("at_own_exp", 0, ("-750.0", "710.0"))),
    "exp2": (["exp_part"], _exp2),
    "expm1": (["exp_part"], _expm1),
    "log": (["log_part"], _log),
    "log2": (["log_part"], lambda: _log_to("log2", ["1.0", "0.0"], 1 / _log2())),
    "log10": (["log_part"], lambda: _log_to("log10", _pieces(_log2() / _log10(), 2, 32), 1 / _log10())),
    "log1p": (["log_part"], _log1p),
    "sinh": (["exp_half"], _sinh),
    "cosh": (["exp_half"], _cosh),
    "tanh": (["expm1"], _tanh),
    "sin": (["turns"], lambda: _sin_or_cos("sin", 0)),
    "cos": (["turns"], lambda: _sin_or_cos("cos", 1)),
    "tan": (["turns"], _tan),
}
