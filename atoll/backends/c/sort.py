"""Stable sorting in C: the order of keys, or the keys in order, NaN last, -0 equal to 0. Printed when a program sorts.

Values become unsigned keys of the same order. Few keys go through a network (networks.py); more are sorted by digits, least first,
by one thread. Many are first split by as many first bits as tell them apart, in parts that threads share: a part counts its digits, sums over digits and
parts say where each part puts its own, and every part moves; then keys of one digit are sorted apart from the others. Bits that all keys share are not
looked at. Of keys with more than 32 other bits the first 32 are sorted, and then the runs that are equal in these. There is one stable order, so
parts and threads do not change it. radix.py has the digits, sort_few.py the keys and what is done with few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atoll.backends.c.argsort import argsort
from atoll.backends.c.networks import MOST, network
from atoll.backends.c.radix import BITS, COMMON, PLAIN_COMMON, groups, radix, runs, split
from atoll.backends.c.sort_few import inserted, keys, ranks, small
from atoll.types.dtypes import DTYPES, DType


def sort(d: DType, hosted: bool) -> str:
    """at_sort_<dtype>(at, x, y, n): y is x in order; they do not overlap. Zeros and NaN keep their bits and the order they had."""
    t, name = d.c_name, d.name
    below = runs(f"at_sorting_{name}", "uint64_t", f"sort_{name}", "u64", "", "a[j] >> s->shift == a[i] >> s->shift", "") if d.bits == 64 else ""
    return f"""{_filled(d)}
{below}
{_rest(d, bool(below))}
{_buckets(d) if hosted else ""}{_odd(d) if d.is_float else ""}
{_digits(d, hosted)}

static int at_sort_{name}(at_call *at, const {t} *x, {t} *y, int64_t n) {{
{(small if hosted else inserted)(d, False)}    return at_sort_digits_{name}(at, x, y, n);
}}"""


def _filled(d: DType) -> str:
    """What a call knows, and the keys of a part: which bits differ, and whether values of other bits are equal."""
    u, t, name = f"uint{max(8, d.bits)}_t", d.c_name, d.name
    own = f"at_sorting_{name}"
    odd = f"odd |= at_odd_{name}(x[i]) != 0;" if d.is_float else ""
    return f"""typedef struct {{ const {t} *x; {t} *y; {u} *a, *b, *differ; const int64_t *ends; int64_t *starts, n, parts; int shift, low, high, width; int odd[64]; }} {own};

static int at_sort_fill_{name}(at_call *at, void *given, int64_t part) {{
    (void)at;
    {own} *s = given;
    const {t} *restrict x = s->x;
    {u} *restrict a = s->a;
    const int64_t end = s->n * (part + 1) / s->parts;
    const {u} first = at_key_{name}(x[0]);
    {u} differ = 0;
    int odd = 0;
    for (int64_t i = s->n * part / s->parts; i < end; i++) {{
        const {u} k = at_key_{name}(x[i]);
        a[i] = k;
        differ |= ({u})(k ^ first);
        {odd}
    }}
    s->differ[part] = differ;
    s->odd[part] = odd;
    return 0;
}}"""


def _rest(d: DType, below: bool) -> str:
    """at_sort_rest_<dtype>(s, a, b, from, to, high): one part of the keys by the digits that are left, and by the bits below those where there are any."""
    bits = max(8, d.bits)
    u, name = f"uint{bits}_t", d.name
    own = f"at_sorting_{name}"
    finish = f"\n    if (s->shift > s->low) at_runs_sort_{name}(s, a, b, from, to);" if below else ""
    return f"""/* from..to, whose keys are the same from bit `high` on */
static void at_sort_rest_{name}({own} *s, {u} *a, {u} *b, int64_t from, int64_t to, int high) {{
    int64_t count[AT_DIGITS];
    int in_b;
    at_radix_u{bits}_sort(a + from, b + from, to - from, s->shift, high, count, &in_b);
    if (in_b) {{
        {u} *other = a;
        a = b;
        b = other;
    }}{finish}
    for (int64_t i = from; i < to; i++) s->y[i] = at_of_key_{name}(a[i]);
}}"""


def _buckets(d: DType) -> str:
    """Keys of one first digit, apart from the others."""
    u, name = f"uint{max(8, d.bits)}_t", d.name
    own = f"at_sorting_{name}"
    wide = 64 if d.bits == 64 else 32
    return f"""
static int at_sort_buckets_{name}(at_call *at, void *given, int64_t group) {{
    (void)at;
    {own} *s = given;
    uint{wide}_t k[{MOST[wide]}] __attribute__((aligned(64)));
    for (int64_t d = s->starts[group]; d < s->starts[group + 1]; d++) {{
        const int64_t from = d ? s->ends[d - 1] : 0, to = s->ends[d], n = to - from;
        if (n == 0) continue;
        if (n <= {MOST[wide]}) {{
            for (int64_t i = 0; i < n; i++) k[i] = s->b[from + i];
            at_network_{wide}(k, n);
            for (int64_t i = 0; i < n; i++) s->y[from + i] = at_of_key_{name}(({u})k[i]);
        }}
        else at_sort_rest_{name}(s, s->b, s->a, from, to, s->high - s->width);
    }}
    return 0;
}}
"""


def _odd(d: DType) -> str:
    """What is equal and not the same."""
    t, name = d.c_name, d.name
    return f"""
/* zeros of either sign are equal, and so are all NaN: in the order they had */
static void at_sort_odd_{name}(const {t} *x, {t} *y, int64_t n) {{
    int64_t zero = 0, last = n;
    for (int64_t step = n; step > 0; step /= 2)
        while (zero + step <= n && y[zero + step - 1] < 0) zero += step;
    for (int64_t i = 0; i < n; i++) last -= x[i] != x[i];
    for (int64_t i = 0; i < n; i++) {{
        if (x[i] == 0) y[zero++] = x[i];
        if (x[i] != x[i]) y[last++] = x[i];
    }}
}}
"""


def _digits(d: DType, hosted: bool) -> str:
    """at_sort_digits_<dtype>(at, x, y, n): many keys by digits."""
    bits = max(8, d.bits)
    u, t, name = f"uint{bits}_t", d.c_name, d.name
    own = f"at_sorting_{name}"
    apart = f"""
    if (n >= AT_SPLIT && high > s.shift) {{
        s.high = high;
        s.width = at_split_width_u{bits}(a, n, s.shift, high);
        if ((status = at_split_u{bits}(at, a, a + n, n, high - s.width, s.width, parts, count)) != 0) goto done;
{groups(f"at_sort_buckets_{name}")}
    }}""" if hosted else ""
    settle = f"\n    if (status == 0 && any) at_sort_odd_{name}(x, y, n);" if d.is_float else "\n    (void)any;"
    return f"""static __attribute__((noinline)) int at_sort_digits_{name}(at_call *at, const {t} *x, {t} *y, int64_t n) {{
    const int64_t parts = at_sort_parts(n);
    {u} *a = at_alloc(2 * n, sizeof *a), differ[64];
    int64_t *count = at_alloc((parts << AT_WIDEST) + 8 * parts + 1, sizeof *count);
    {own} s = {{x, y, a, a + n, differ, NULL, count ? count + (parts << AT_WIDEST) : NULL, n, parts, 0, 0, 0, 0, {{0}}}};
    int status = -1, high, any = 0;
    if (!a || !count) goto done;
    if ((status = at_in_parts(at, at_sort_fill_{name}, &s, parts)) != 0) goto done;
    for (int64_t k = 0; k < parts; k++) {{
        differ[0] |= differ[k];
        any |= s.odd[k];
    }}
    at_sort_bits(differ[0], &s.low, &high);
    s.shift = high - s.low > 32 ? high - 32 : s.low;{apart}
    at_sort_rest_{name}(&s, a, a + n, 0, n, high);
done:{settle}
    at_free(a);
    at_free(count);
    return status;
}}"""


def _parts(hosted: bool) -> dict[str, str]:
    """Every piece of text under the name by which others use it."""
    found = {"at_in_parts": COMMON, "at_sort_bits": BITS, "at_ranks_64": ranks(64)}
    for bits in (32, 64):
        found[f"at_network_{bits}"] = network(bits)
    for bits in (8, 16, 32, 64):
        found[f"at_radix_u{bits}_sort"] = radix(f"u{bits}", f"uint{bits}_t", "")
        found[f"at_split_u{bits}"] = split(f"u{bits}", f"uint{bits}_t", "")
    for kind, key, at in (("pair", "uint32_t", "uint32_t"), ("wide", "uint64_t", "int64_t")):
        found[f"at_radix_{kind}_sort"] = f"typedef struct {{ {key} key; {at} at; }} at_{kind};\n\n" + radix(kind, f"at_{kind}", ".key")
        found[f"at_split_{kind}"] = split(kind, f"at_{kind}", ".key")
    for d in DTYPES.values():
        if not d.is_complex:
            found |= keys(d)
            found[f"at_argsort_{d.name}"] = argsort(d, hosted)
            found[f"at_sort_{d.name}"] = sort(d, hosted)
    return found if hosted else {name: _plain(text) for name, text in found.items()}


def _plain(text: str) -> str:
    """Without a host there are neither threads nor `at`."""
    if text is COMMON:
        return PLAIN_COMMON
    text = text.replace("    (void)at;\n", "").replace("at_call *at, ", "").replace("(at, ", "(").replace("(NULL, &r, 0)", "(&r, 0)").replace("static __attribute__((noinline)) int", "static int")
    return text.replace("(at_call *, ", "(")


_TEXTS = {hosted: _parts(hosted) for hosted in (True, False)}
_NAME = re.compile(r"\bat_[a-z0-9_]+\b")


def sorts(text: str, hosted: bool) -> list[str]:
    """What a program that sorts needs, each after what it uses itself."""
    return sorts_by(_NAME.findall(text), hosted)


def sorts_by(words: Iterable[str], hosted: bool) -> list[str]:
    """The same for the words of a program."""
    texts = _TEXTS[hosted]
    order: dict[str, None] = {}

    def visit(words: Iterable[str], text: str) -> None:
        for name in words:
            if name in texts and name not in order and texts[name] is not text:
                visit(_NAME.findall(texts[name]), texts[name])
                order[name] = None

    visit(words, "")
    return [texts[name] for name in order]
