"""print(...) in exported C, with the text that Python and NumPy give the same values.

Numbers are written with the fewest digits that read back as the same number. Arrays are padded to columns as NumPy pads them, with at most eight
digits after the point; they are written in full and on one line per row, however long.
"""

from __future__ import annotations

from typing import Any

from atoll.backends.c.quoted import LONGEST, c_string
from atoll.loops import ir as lp
from atoll.types.dtypes import DType
from atoll.types.types import Record, Tuple, Type, shape_of

SUPPORT = r"""#include <stdlib.h>

/* A number as Python writes it. */
static void at_number(char *out, double x, int single) {
    char text[40];
    if (isnan(x)) { strcpy(out, "nan"); return; }
    if (isinf(x)) { strcpy(out, x > 0 ? "inf" : "-inf"); return; }
    int digits = 0;
    for (; digits < 17; digits++) {
        sprintf(text, "%.*e", digits, x);
        if (single ? (float)strtod(text, NULL) == (float)x : strtod(text, NULL) == x) break;
    }
    const int exponent = x == 0 ? 0 : atoi(strchr(text, 'e') + 1);
    const int far = single ? x != 0 && (fabs(x) < 1e-4 || fabs(x) >= 1e6) : exponent < -4 || exponent >= 16;
    if (far) { strcpy(out, text); return; }
    sprintf(out, "%.*f", digits > exponent ? digits - exponent : 1, strtod(text, NULL));
}

static void at_complex_number(char *out, double re, double im, int single) {
    char part[64];
    at_number(part, re, single);
    if (strlen(part) > 2 && strcmp(part + strlen(part) - 2, ".0") == 0) part[strlen(part) - 2] = 0;
    const int pure = re == 0 && !signbit(re);
    sprintf(out, "%s%s%s", pure ? "" : "(", pure ? "" : part, pure || signbit(im) || isnan(im) ? (isnan(im) && !pure ? "+" : "") : "+");
    at_number(part, im, single);
    if (strlen(part) > 2 && strcmp(part + strlen(part) - 2, ".0") == 0) part[strlen(part) - 2] = 0;
    strcat(out, part);
    strcat(out, pure ? "j" : "j)");
}

/* The digits after the point that a number needs in the form 1.5e+09, at most eight. */
static int at_digits(double x, int single) {
    char text[40];
    int digits = 0;
    for (; digits < 8; digits++) {
        sprintf(text, "%.*e", digits, x);
        if (single ? (float)strtod(text, NULL) == (float)x : strtod(text, NULL) == x) break;
    }
    return digits;
}

static double at_float(const void *data, int kind, int64_t k) {
    return kind == 0 ? ((const double *)data)[k] : (double)((const float *)data)[k];
}

/* How many digits all elements have where NumPy writes them as 1.5e+09: they are large, small, or far apart. Else -1. */
static int at_scientific(const void *data, int kind, int64_t count) {
    double least = INFINITY, most = 0;
    int digits = 0;
    for (int64_t k = 0; kind < 2 && k < count; k++) {
        const double x = fabs(at_float(data, kind, k));
        if (isnan(x) || isinf(x) || x == 0) continue;
        const int wanted = at_digits(x, kind);
        if (wanted > digits) digits = wanted;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    return most > 0 && (most >= 1e8 || (kind == 1 ? (float)least < 1e-4f : least < 1e-4) || most / least > 1000) ? digits : -1;
}

/* An element of an array as NumPy writes it. */
static void at_element(char *out, const void *data, int kind, int64_t k, int digits) {
    const double x = kind < 2 ? at_float(data, kind, k) : 0;
    if (kind < 2 && digits >= 0 && !isnan(x) && !isinf(x)) {
        sprintf(out, "%#.*e", digits, x);
        return;
    }
    switch (kind) {
    case 0:
    case 1:
        if (isnan(x) || isinf(x)) {
            at_number(out, x, kind);
            return;
        }
        for (int after = 0; after <= 8; after++) {
            sprintf(out, "%#.*f", after, x);
            if (kind == 1 ? (float)strtod(out, NULL) == (float)x : strtod(out, NULL) == x) break;
        }
        break;
    case 2: strcpy(out, ((const bool *)data)[k] ? "True" : "False"); return;
    case 3: sprintf(out, "%lld", (long long)((const int8_t *)data)[k]); return;
    case 4: sprintf(out, "%lld", (long long)((const int16_t *)data)[k]); return;
    case 5: sprintf(out, "%lld", (long long)((const int32_t *)data)[k]); return;
    case 6: sprintf(out, "%lld", (long long)((const int64_t *)data)[k]); return;
    case 7: sprintf(out, "%llu", (unsigned long long)((const uint8_t *)data)[k]); return;
    case 8: sprintf(out, "%llu", (unsigned long long)((const uint16_t *)data)[k]); return;
    case 9: sprintf(out, "%llu", (unsigned long long)((const uint32_t *)data)[k]); return;
    case 10: sprintf(out, "%llu", (unsigned long long)((const uint64_t *)data)[k]); return;
    case 11: at_complex_number(out, ((const double *)data)[2 * k], ((const double *)data)[2 * k + 1], 0); return;
    default: at_complex_number(out, (double)((const float *)data)[2 * k], (double)((const float *)data)[2 * k + 1], 1); return;
    }
    while (out[strlen(out) - 1] == '0') out[strlen(out) - 1] = 0;
}

static void at_print_array(const void *data, int kind, int rank, const int64_t *dims) {
    char text[96];
    int64_t count = 1;
    for (int a = 0; a < rank; a++) count *= dims[a];
    int left = kind == 2 ? 5 : 0, right = 0;
    const int digits = at_scientific(data, kind, count);
    for (int64_t k = 0; k < count; k++) {
        at_element(text, data, kind, k, digits);
        const char *point = kind < 2 ? strchr(text, '.') : NULL;
        const int before = point != NULL ? (int)(point - text) : (int)strlen(text), after = point != NULL ? (int)strlen(point) : 0;
        if (point == NULL && kind < 2) continue;
        if (before > left) left = before;
        if (after > right) right = after;
    }
    for (int64_t k = 0; kind < 2 && k < count; k++) { /* nan and inf have no point */
        at_element(text, data, kind, k, digits);
        if (strchr(text, '.') == NULL && (int)strlen(text) > left + right) left = (int)strlen(text) - right;
    }
    if (count == 0) {
        printf("[]");
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        int open = 0, close = 0;
        int64_t step = 1;
        for (int a = rank - 1; a >= 0; a--) {
            step *= dims[a];
            open += k % step == 0;
            close += (k + 1) % step == 0;
        }
        for (int a = 0; k > 0 && a < open; a++) printf("\n");
        for (int a = 0; k > 0 && open > 0 && a < rank - open; a++) printf(" ");
        if (k > 0 && open == 0) printf(" ");
        for (int a = 0; a < open; a++) printf("[");
        at_element(text, data, kind, k, digits);
        const char *point = kind < 2 ? strchr(text, '.') : NULL;
        const int before = point != NULL ? (int)(point - text) : (int)strlen(text);
        printf("%*s%s%*s", point != NULL ? left - before : left + right - before, "", text, point != NULL ? right - (int)strlen(point) : 0, "");
        for (int a = 0; a < close; a++) printf("]");
    }
}"""

KINDS = dict(zip("f64 f32 bool i8 i16 i32 i64 u8 u16 u32 u64 c128 c64".split(), range(13), strict=True))


def statements(emitter: Any, stmt: lp.Print) -> list[str]:
    """The statements that print the parts of a `print`."""
    found = []
    for part in stmt.parts:
        if isinstance(part, str):
            found.append(_text(part))
        else:
            found += _value(emitter, part[0], iter(part[1]), part[2])
    return [*found, _text("\n")]


def _text(text: str) -> str:
    parts = [text[k : k + LONGEST // 4] for k in range(0, len(text), LONGEST // 4)] or [""]
    return " ".join(f'printf("{c_string(part.replace("%", "%%"))}");' for part in parts)


def _value(emitter: Any, t: Type, shown: Any, spec: str) -> list[str]:
    _, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        found = [_text("(")]
        for k, item in enumerate(elem.items):
            found += [_text(", ")] if k else []
            found += _value(emitter, item, shown, "")
        return [*found, _text(")")]
    one = next(shown)
    if isinstance(one, lp.Buffer) and one.extents:
        dims = ", ".join(emitter.poly(p) for p in one.extents)
        return [f"at_print_array({emitter.safe_name(one)}, {KINDS[one.dtype.name]}, {len(one.extents)}, (const int64_t[]){{{dims}}});"]
    text = f"{emitter.safe_name(one)}[0]" if isinstance(one, lp.Buffer) else emitter.expr(one)
    return [_scalar(text, one.dtype, spec)]


def _scalar(text: str, dtype: DType, spec: str) -> str:
    if spec and dtype.is_float and spec.startswith(".") and spec[1:-1].isdigit() and spec[-1] in "feg":
        return f'printf("%{spec}", (double)({text}));'
    single = int(dtype.name in ("f32", "c64"))
    if dtype.is_complex:
        return f'{{ char at_text[160]; at_complex_number(at_text, (double)creal({text}), (double)cimag({text}), {single}); printf("%s", at_text); }}'
    if dtype.is_float:
        return f'{{ char at_text[64]; at_number(at_text, (double)({text}), {single}); printf("%s", at_text); }}'
    if dtype.kind == "b":
        return f'printf("%s", {text} ? "True" : "False");'
    if dtype.name == "u64":
        return f'printf("%llu", (unsigned long long)({text}));'
    return f'printf("%lld", (long long)({text}));'
