"""Stable sorting in C: the order of keys, or the keys in order, NaN last, -0 equal to 0. Printed when a program sorts.

Values become unsigned keys of the same order. Few keys go through a network (networks.py); more are sorted by digits, least first,
by one thread. Many are first split by as many first bits as tell them apart, in parts that threads share: a part counts its digits, sums over digits and
parts say where each part puts its own, and every part moves; then keys of one digit are sorted apart from the others. Bits that all keys share are not
looked at. Of keys with more than 32 other bits the first 32 are sorted, and then the runs that are equal in these. There is one stable order, so
parts and threads do not change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atoll.backends.c.networks import MOST, network
from atoll.types.dtypes import DTYPES, DType

RANKED = 64  # keys of 64 bits whose places are wanted

_COMMON = """/* tasks of a sort: part 0 .. parts - 1 */
static int at_in_parts(at_call *at, int (*task)(at_call *, void *, int64_t), void *given, int64_t parts) {
    return parts > 1 ? at_rt->parallel(at, task, given, parts, 0) : task(at, given, 0);
}

static inline int64_t at_sort_parts(int64_t n) {
    const int64_t threads = n < 65536 ? 1 : at_rt->threads(), parts = threads > 1 ? 2 * threads : 1;
    return parts < 64 ? parts : 64;
}"""

_PLAIN_COMMON = """static int at_in_parts(int (*task)(void *, int64_t), void *given, int64_t parts) {
    for (int64_t k = 0; k < parts; k++) task(given, k);
    return 0;
}

static int64_t at_sort_parts(int64_t n) {
    (void)n;
    return 1;
}"""

_BITS = """enum { AT_DIGITS = 2048, AT_WIDEST = 13, AT_SPLIT = 65536 };   /* from so many keys on, they are split by first digits and sorted apart */

/* bits low .. high of keys are not the same everywhere */
static inline void at_sort_bits(uint64_t differ, int *low, int *high) {
    *low = *high = 0;
    while (differ >> *high) {
        if (++*high == 64) break;
    }
    while (*low < *high && !(differ >> *low & 1)) ++*low;
}"""


def _radix(kind: str, element: str, key: str) -> str:
    """at_radix_<kind>_sort(a, b, n, low, high, count, in_b): a by bits low..high of its keys, through b, which may hold the result."""
    return f"""typedef struct {{ const {element} *from; {element} *to; int64_t n, parts, *count, last; int low; }} at_radix_{kind};

static int at_radix_count_{kind}(at_call *at, void *given, int64_t part) {{
    (void)at;
    const at_radix_{kind} *r = given;
    int64_t *restrict count = r->count + part * (r->last + 1);
    const {element} *restrict from = r->from;
    const int64_t end = r->n * (part + 1) / r->parts;
    const int low = r->low, last = (int)r->last;
    memset(count, 0, (size_t)(last + 1) * sizeof *count);
    for (int64_t i = r->n * part / r->parts; i < end; i++) count[(int)(from[i]{key} >> low) & last]++;
    return 0;
}}

static int at_radix_move_{kind}(at_call *at, void *given, int64_t part) {{
    (void)at;
    const at_radix_{kind} *r = given;
    int64_t *restrict count = r->count + part * (r->last + 1);
    const {element} *restrict from = r->from;
    {element} *restrict to = r->to;
    const int64_t end = r->n * (part + 1) / r->parts;
    const int low = r->low, last = (int)r->last;
    for (int64_t i = r->n * part / r->parts; i < end; i++) to[count[(int)(from[i]{key} >> low) & last]++] = from[i];
    return 0;
}}

static void at_radix_{kind}_sort({element} *a, {element} *b, int64_t n, int low, int high, int64_t *count, int *in_b) {{
    /* many places to write to are good while all of them stay near, and when there is much to write */
    const int most = n < 2048 || n * (int64_t)sizeof *a > 1 << 20 ? 8 : 11, passes = (high - low + most - 1) / most;
    const int width = passes ? (high - low + passes - 1) / passes : 0, last = (1 << width) - 1;
    *in_b = 0;
    for (int p = 0; p < passes; p++) {{
        at_radix_{kind} r = {{a, b, n, 1, count, last, low + p * width}};
        at_radix_count_{kind}(NULL, &r, 0);
        int64_t total = 0;
        int one = 0;
        for (int d = 0; d <= last; d++) {{
            const int64_t c = count[d];
            count[d] = total;
            total += c;
            one |= c == n;
        }}
        if (one) continue;
        at_radix_move_{kind}(NULL, &r, 0);
        {element} *t = a;
        a = b;
        b = t;
        *in_b ^= 1;
    }}
}}"""


def _split(kind: str, element: str, key: str) -> str:
    """at_split_<kind>(at, a, b, n, low, width, parts, count): a by `width` bits from `low` on, into b; count ends with where the digits end."""
    return f"""/* how many first bits of low..high tell keys apart: of 1024 of them, no 64 have the same */
static int at_split_width_{kind}(const {element} *a, int64_t n, int low, int high) {{
    uint64_t k[1024] __attribute__((aligned(64)));
    for (int i = 0; i < 1024; i++) k[i] = (uint64_t)(a[n / 1024 * i]{key} >> low);
    at_network_64(k, 1024);
    int width = 6;
    for (; width < AT_WIDEST && width < high - low; width++) {{
        const int shift = high - low - width;
        int run = 0, longest = 0;
        for (int i = 1; i < 1024; i++) {{
            run = k[i] >> shift == k[i - 1] >> shift ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }}
        if (longest < 64) break;
    }}
    return width < high - low ? width : high - low;
}}

static int at_split_{kind}(at_call *at, const {element} *a, {element} *b, int64_t n, int low, int width, int64_t parts, int64_t *count) {{
    const int64_t digits = (int64_t)1 << width;
    at_radix_{kind} r = {{a, b, n, parts, count, digits - 1, low}};
    const int status = at_in_parts(at, at_radix_count_{kind}, &r, parts);
    if (status) return status;
    int64_t total = 0;
    for (int64_t d = 0; d < digits; d++)
        for (int64_t k = 0; k < parts; k++) {{
            const int64_t c = count[k * digits + d];
            count[k * digits + d] = total;
            total += c;
        }}
    return at_in_parts(at, at_radix_move_{kind}, &r, parts);
}}"""


def _groups(what: str) -> str:
    """Digits shared out in groups of about the same number of keys."""
    return f"""        const int64_t digits = (int64_t)1 << s.width, *ends = count + (parts - 1) * digits;
        int64_t groups = parts > 1 ? 8 * parts : 1, d = 0;
        s.ends = ends;
        for (int64_t k = 0; k < groups; k++) {{
            s.starts[k] = d;
            while (d < digits && ends[d] < n * (k + 1) / groups) d++;
            d += d < digits;
        }}
        s.starts[groups] = digits;
        status = at_in_parts(at, {what}, &s, groups);
        goto done;"""


def _ranks(bits: int) -> str:
    """at_ranks_<bits>(keys, rank, n): how many come before each; up to the next multiple of the lanes the keys are the largest."""
    u, lanes = f"uint{bits}_t", 512 // bits
    return f"""static void at_ranks_{bits}(const {u} *k, {u} *rank, int n) {{
#if defined(__GNUC__)
    typedef {u} lane __attribute__((vector_size(64)));
    lane number;
    for (int l = 0; l < {lanes}; l++) number[l] = ({u})l;
    for (int i = 0; i < n; i += {lanes}) {{
        lane mine, before = {{0}};
        memcpy(&mine, k + i, sizeof mine);
        for (int j = 0; j < i; j++) before -= (lane)(mine >= k[j]);
        for (int j = i; j < i + {lanes}; j++) before -= (lane)((mine > k[j]) | ((mine == k[j]) & (number > ({u})(j - i))));
        for (int j = i + {lanes}; j < n; j++) before -= (lane)(mine > k[j]);
        memcpy(rank + i, &before, sizeof before);
    }}
#else
    for (int i = 0; i < n; i++) {{
        {u} before = 0;
        for (int j = 0; j < n; j++) before += j < i ? k[j] <= k[i] : k[j] < k[i];
        rank[i] = before;
    }}
#endif
}}"""


def _keys(d: DType) -> dict[str, str]:
    """Key bits whose unsigned order is the order of the values, without branches; and back, for all but -0 and NaN; and whether a value is one of those."""
    bits = max(8, d.bits)
    u, t, name = f"uint{bits}_t", d.c_name, d.name
    top = f"(({u})1 << {bits - 1})"
    if not d.is_float:
        mark = f" ^ {top}" if d.kind == "i" else ""
        return {
            f"at_key_{name}": f"static inline {u} at_key_{name}({t} x) {{ return ({u})(({u})x{mark}); }}",
            f"at_of_key_{name}": f"static inline {t} at_of_key_{name}({u} k) {{ return ({t})({u})(k{mark}); }}",
        }
    key = f"""static inline {u} at_key_{name}({t} x) {{
    {u} k;
    memcpy(&k, &x, sizeof k);
    k = k == {top} ? 0 : k;
    k ^= (0 - (k >> {bits - 1})) | {top};
    return x != x ? ~({u})0 : k;
}}"""
    odd = f"""/* not 0: equal to others of other bits, -0 or NaN */
static inline {u} at_odd_{name}({t} x) {{
    {u} k;
    memcpy(&k, &x, sizeof k);
    return ({u})(k == {top}) | ({u})(x != x);
}}"""
    back = f"""static inline {t} at_of_key_{name}({u} k) {{
    {t} x;
    k ^= ((k >> {bits - 1}) - 1) | {top};
    memcpy(&x, &k, sizeof x);
    return x;
}}"""
    return {f"at_key_{name}": key, f"at_odd_{name}": odd, f"at_of_key_{name}": back}


def _argsort(d: DType, few: bool, hosted: bool) -> str:
    """By pairs of a key and a place: 32 bits each while the places fit."""
    bits = max(8, d.bits)
    u, t, name = f"uint{bits}_t", d.c_name, d.name
    kind, window, place, most = ("pair", "uint32_t", "uint32_t", 32) if few else ("wide", "uint64_t", "int64_t", 64)
    runs = "" if bits <= most else _runs(f"at_ordering_{kind}_{name}", f"at_{kind}", f"order_{kind}_{name}", kind, ".key", "a[j].key == a[i].key", f"a[k].key = ({window})(at_key_{name}(s->keys[a[k].at]) & ((({u})1 << s->shift) - 1));")
    finish = f"\n    if (s->shift > s->low) at_runs_order_{kind}_{name}(s, a, b, from, to);" if runs else ""
    own = f"at_ordering_{kind}_{name}"
    split = hosted and few
    unpack = f"""
        for (int64_t i = 0; i < n; i++) {{
            a[from + i].key = (uint32_t)(k[i] >> 32);
            a[from + i].at = (uint32_t)k[i];
        }}{finish.replace("    if", "        if")}
        for (int64_t i = from; i < to; i++) s->order[i] = (int64_t)a[i].at;""" if runs else """
        for (int64_t i = 0; i < n; i++) s->order[from + i] = (int64_t)(k[i] & 0xffffffffu);"""
    by_network = f"""
    const int64_t n = to - from;
    if (n <= {MOST[64]}) {{
        uint64_t k[{MOST[64]}] __attribute__((aligned(64)));
        for (int64_t i = 0; i < n; i++) k[i] = (uint64_t)a[from + i].key << 32 | a[from + i].at;
        at_network_64(k, n);{unpack}
        return;
    }}""" if split else ""
    buckets = f"""
static int at_order_buckets_{name}(at_call *at, void *given, int64_t group) {{
    (void)at;
    {own} *s = given;
    for (int64_t d = s->starts[group]; d < s->starts[group + 1]; d++) {{
        const int64_t from = d ? s->ends[d - 1] : 0, to = s->ends[d];
        if (to > from) at_order_rest_{kind}_{name}(s, s->b, s->a, from, to, s->high - s->width);
    }}
    return 0;
}}
""" if split else ""
    apart = f"""
    if (n >= AT_SPLIT && high > s.shift) {{
        s.high = high - s.shift;
        s.width = at_split_width_pair(a, n, 0, s.high);
        if ((status = at_split_pair(at, a, a + n, n, s.high - s.width, s.width, parts, count)) != 0) goto done;
{_groups(f"at_order_buckets_{name}")}
    }}""" if split else ""
    return f"""typedef struct {{ const {t} *keys; at_{kind} *a, *b; {u} *differ; const int64_t *ends; int64_t *starts, *order, n, parts; int shift, low, high, width; }} {own};

static int at_order_differ_{kind}_{name}(at_call *at, void *given, int64_t part) {{
    (void)at;
    {own} *s = given;
    const {t} *keys = s->keys;
    const int64_t end = s->n * (part + 1) / s->parts;
    const {u} first = at_key_{name}(keys[0]);
    {u} differ = 0;
    for (int64_t i = s->n * part / s->parts; i < end; i++) differ |= ({u})(at_key_{name}(keys[i]) ^ first);
    s->differ[part] = differ;
    return 0;
}}

static int at_order_fill_{kind}_{name}(at_call *at, void *given, int64_t part) {{
    (void)at;
    {own} *s = given;
    const {t} *restrict keys = s->keys;
    at_{kind} *restrict a = s->a;
    const int64_t end = s->n * (part + 1) / s->parts;
    const int shift = s->shift;
    for (int64_t i = s->n * part / s->parts; i < end; i++) {{
        a[i].key = ({window})(at_key_{name}(keys[i]) >> shift);
        a[i].at = ({place})i;
    }}
    return 0;
}}
{runs}
/* from..to, whose keys are the same from bit `high` on */
static void at_order_rest_{kind}_{name}({own} *s, at_{kind} *a, at_{kind} *b, int64_t from, int64_t to, int high) {{{by_network}
    int64_t count[AT_DIGITS];
    int in_b;
    at_radix_{kind}_sort(a + from, b + from, to - from, 0, high, count, &in_b);
    if (in_b) {{
        at_{kind} *other = a;
        a = b;
        b = other;
    }}{finish}
    for (int64_t i = from; i < to; i++) s->order[i] = (int64_t)a[i].at;
}}
{buckets}
static int at_order_{kind}_{name}(at_call *at, const {t} *keys, int64_t *order, int64_t n) {{
    const int64_t parts = at_sort_parts(n);
    at_{kind} *a = at_alloc(2 * n, sizeof *a);
    int64_t *count = at_alloc((parts << AT_WIDEST) + 8 * parts + 1, sizeof *count);
    {u} differ[64];
    {own} s = {{keys, a, a + n, differ, NULL, count ? count + (parts << AT_WIDEST) : NULL, order, n, parts, 0, 0, 0, 0}};
    int status = -1, high;
    if (!a || !count) goto done;
    if ((status = at_in_parts(at, at_order_differ_{kind}_{name}, &s, parts)) != 0) goto done;
    for (int64_t k = 1; k < parts; k++) differ[0] |= differ[k];
    at_sort_bits(differ[0], &s.low, &high);
    s.shift = high - s.low > {most} ? high - {most} : s.low;
    if ((status = at_in_parts(at, at_order_fill_{kind}_{name}, &s, parts)) != 0) goto done;{apart}
    at_order_rest_{kind}_{name}(&s, a, a + n, 0, n, high - s.shift);
done:
    at_free(a);
    at_free(count);
    return status;
}}"""


def _runs(own: str, element: str, name: str, kind: str, key: str, same: str, rekey: str) -> str:
    """at_runs_<name>(s, a, b, from, to): runs of elements that are the same so far, sorted by the bits below."""
    return f"""
static void at_runs_{name}({own} *s, {element} *a, {element} *b, int64_t from, int64_t to) {{
    int64_t count[AT_DIGITS];
    for (int64_t i = from, j; i < to; i = j) {{
        for (j = i + 1; j < to && {same}; j++) {{}}
        if (j - i == 1) continue;
        {"for (int64_t k = i; k < j; k++) " + rekey if rekey else ""}
        if (j - i <= 32) {{
            for (int64_t k = i + 1; k < j; k++) {{
                const {element} one = a[k];
                int64_t l = k;
                for (; l > i && a[l - 1]{key} > one{key}; l--) a[l] = a[l - 1];
                a[l] = one;
            }}
            continue;
        }}
        int in_b;
        at_radix_{kind}_sort(a + i, b + i, j - i, s->low, s->shift, count, &in_b);
        if (in_b) memcpy(a + i, b + i, (size_t)(j - i) * sizeof *a);
    }}
}}
"""


def _small(d: DType, places: bool) -> str:
    """Few keys, without memory: by a network, the places in the low half of 64 bits where they fit; ranks for the rest."""
    u, name = f"uint{64 if d.bits == 64 or places else 32}_t", d.name
    bits = 64 if u == "uint64_t" else 32
    if places and d.bits == 64:
        return f"""    if (n <= {RANKED}) {{
        uint64_t k[{RANKED}], rank[{RANKED}];
        for (int64_t i = 0; i < {RANKED}; i++) k[i] = i < n ? at_key_{name}(keys[i]) : UINT64_MAX;
        at_ranks_64(k, rank, (int)n);
        for (int64_t i = 0; i < n; i++) order[rank[i]] = i;
        return 0;
    }}
"""
    if places:
        return f"""    if (n <= {MOST[64]}) {{
        uint64_t k[{MOST[64]}] __attribute__((aligned(64)));
        for (int64_t i = 0; i < n; i++) k[i] = (uint64_t)at_key_{name}(keys[i]) << 32 | (uint64_t)i;
        at_network_64(k, n);
        for (int64_t i = 0; i < n; i++) order[i] = (int64_t)(k[i] & 0xffffffffu);
        return 0;
    }}
"""
    key = f"uint{max(8, d.bits)}_t"
    odd, settle = (f"\n            odd |= at_odd_{name}(x[i]);", f"\n        if (odd) at_sort_odd_{name}(x, y, n);") if d.is_float else ("", "")
    return f"""    if (n <= {MOST[bits]}) {{
        {u} k[{MOST[bits]}] __attribute__((aligned(64)));
        {f"{key} odd = 0;" if odd else "(void)at;"}
        for (int64_t i = 0; i < n; i++) {{
            k[i] = at_key_{name}(x[i]);{odd}
        }}
        at_network_{bits}(k, n);
        for (int64_t i = 0; i < n; i++) y[i] = at_of_key_{name}(({key})k[i]);{settle}
        return 0;
    }}
"""


def _inserted(d: DType, places: bool) -> str:
    """Few keys in plain C."""
    name = d.name
    value, more, x, y = ("i", f"at_key_{name}(keys[order[j - 1]])", "keys", "order") if places else ("x[i]", f"at_key_{name}(y[j - 1])", "x", "y")
    return f"""    if (n <= 32) {{
        for (int64_t i = 0; i < n; i++) {{
            const uint{max(8, d.bits)}_t k = at_key_{name}({x}[i]);
            int64_t j = i;
            for (; j > 0 && {more} > k; j--) {y}[j] = {y}[j - 1];
            {y}[j] = {value};
        }}
        return 0;
    }}
"""


def argsort(d: DType, hosted: bool) -> str:
    """at_argsort_<dtype>(at, keys, order, n): 0, -1 when there is no memory, -2 when the user wants to stop."""
    return f"""{_argsort(d, True, hosted)}

{_argsort(d, False, hosted)}

/* the stable order of n keys */
static int at_argsort_{d.name}(at_call *at, const {d.c_name} *keys, int64_t *order, int64_t n) {{
{(_small if hosted else _inserted)(d, True)}    return n < INT64_C(4294967296) ? at_order_pair_{d.name}(at, keys, order, n) : at_order_wide_{d.name}(at, keys, order, n);
}}"""


def sort(d: DType, hosted: bool) -> str:
    """at_sort_<dtype>(at, x, y, n): y is x in order; they do not overlap. Zeros and NaN keep their bits and the order they had."""
    bits = max(8, d.bits)
    u, t, name = f"uint{bits}_t", d.c_name, d.name
    odd = f"odd |= at_odd_{name}(x[i]) != 0;" if d.is_float else ""
    own = f"at_sorting_{name}"
    runs = _runs(own, u, f"sort_{name}", "u64", "", "a[j] >> s->shift == a[i] >> s->shift", "") if bits == 64 else ""
    finish = f"\n    if (s->shift > s->low) at_runs_sort_{name}(s, a, b, from, to);" if runs else ""
    wide = 64 if bits == 64 else 32
    buckets = f"""
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
""" if hosted else ""
    apart = f"""
    if (n >= AT_SPLIT && high > s.shift) {{
        s.high = high;
        s.width = at_split_width_u{bits}(a, n, s.shift, high);
        if ((status = at_split_u{bits}(at, a, a + n, n, high - s.width, s.width, parts, count)) != 0) goto done;
{_groups(f"at_sort_buckets_{name}")}
    }}""" if hosted else ""
    again = (
        f"""
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
        if d.is_float
        else ""
    )
    settle = f"\n    if (status == 0 && any) at_sort_odd_{name}(x, y, n);" if d.is_float else "\n    (void)any;"
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
}}
{runs}
/* from..to, whose keys are the same from bit `high` on */
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
}}
{buckets}{again}
static __attribute__((noinline)) int at_sort_digits_{name}(at_call *at, const {t} *x, {t} *y, int64_t n) {{
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
}}

static int at_sort_{name}(at_call *at, const {t} *x, {t} *y, int64_t n) {{
{(_small if hosted else _inserted)(d, False)}    return at_sort_digits_{name}(at, x, y, n);
}}"""


def _parts(hosted: bool) -> dict[str, str]:
    """Every piece of text under the name by which others use it."""
    found = {"at_in_parts": _COMMON, "at_sort_bits": _BITS, "at_ranks_64": _ranks(64)}
    for bits in (32, 64):
        found[f"at_network_{bits}"] = network(bits)
    for bits in (8, 16, 32, 64):
        found[f"at_radix_u{bits}_sort"] = _radix(f"u{bits}", f"uint{bits}_t", "")
        found[f"at_split_u{bits}"] = _split(f"u{bits}", f"uint{bits}_t", "")
    for kind, key, at in (("pair", "uint32_t", "uint32_t"), ("wide", "uint64_t", "int64_t")):
        found[f"at_radix_{kind}_sort"] = f"typedef struct {{ {key} key; {at} at; }} at_{kind};\n\n" + _radix(kind, f"at_{kind}", ".key")
        found[f"at_split_{kind}"] = _split(kind, f"at_{kind}", ".key")
    for d in DTYPES.values():
        if not d.is_complex:
            found |= _keys(d)
            found[f"at_argsort_{d.name}"] = argsort(d, hosted)
            found[f"at_sort_{d.name}"] = sort(d, hosted)
    return found if hosted else {name: _plain(text) for name, text in found.items()}


def _plain(text: str) -> str:
    """Without a host there are neither threads nor `at`."""
    if text is _COMMON:
        return _PLAIN_COMMON
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
