"""at_argsort_<dtype>: the stable order of keys, in C. Pairs of a key and a place are sorted, 32 bits each while the places fit ("pair"), 64 beyond ("wide")."""

from __future__ import annotations

from atoll.backends.c.networks import MOST
from atoll.backends.c.radix import groups, runs
from atoll.backends.c.sort_few import inserted, small
from atoll.types.dtypes import DType


def argsort(d: DType, hosted: bool) -> str:
    """at_argsort_<dtype>(at, keys, order, n): 0, -1 when there is no memory, -2 when the user wants to stop."""
    return f"""{_order(d, True, hosted)}

{_order(d, False, hosted)}

/* the stable order of n keys */
static int at_argsort_{d.name}(at_call *at, const {d.c_name} *keys, int64_t *order, int64_t n) {{
{(small if hosted else inserted)(d, True)}    return n < INT64_C(4294967296) ? at_order_pair_{d.name}(at, keys, order, n) : at_order_wide_{d.name}(at, keys, order, n);
}}"""


def _order(d: DType, few: bool, hosted: bool) -> str:
    """at_order_<kind>_<dtype>(at, keys, order, n): by pairs of a key and a place."""
    bits = max(8, d.bits)
    u, t, name = f"uint{bits}_t", d.c_name, d.name
    kind, window, most = ("pair", "uint32_t", 32) if few else ("wide", "uint64_t", 64)
    own = f"at_ordering_{kind}_{name}"
    below = "" if bits <= most else runs(own, f"at_{kind}", f"order_{kind}_{name}", kind, ".key", "a[j].key == a[i].key", f"a[k].key = ({window})(at_key_{name}(s->keys[a[k].at]) & ((({u})1 << s->shift) - 1));")
    finish = f"\n    if (s->shift > s->low) at_runs_order_{kind}_{name}(s, a, b, from, to);" if below else ""
    split = hosted and few
    apart = f"""
    if (n >= AT_SPLIT && high > s.shift) {{
        s.high = high - s.shift;
        s.width = at_split_width_pair(a, n, 0, s.high);
        if ((status = at_split_pair(at, a, a + n, n, s.high - s.width, s.width, parts, count)) != 0) goto done;
{groups(f"at_order_buckets_{name}")}
    }}""" if split else ""
    return f"""{_filled(d, kind)}
{below}
{_rest(d, kind, finish, _by_network(finish) if split else "")}
{_buckets(d, kind) if split else ""}
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


def _filled(d: DType, kind: str) -> str:
    """What a call knows, which bits of keys differ, and the pairs of a part."""
    window, place = ("uint32_t", "uint32_t") if kind == "pair" else ("uint64_t", "int64_t")
    u, t, name = f"uint{max(8, d.bits)}_t", d.c_name, d.name
    own = f"at_ordering_{kind}_{name}"
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
}}"""


def _by_network(finish: str) -> str:
    """Few of many keys: by a network, and then by the bits below where there are any."""
    unpack = f"""
        for (int64_t i = 0; i < n; i++) {{
            a[from + i].key = (uint32_t)(k[i] >> 32);
            a[from + i].at = (uint32_t)k[i];
        }}{finish.replace("    if", "        if")}
        for (int64_t i = from; i < to; i++) s->order[i] = (int64_t)a[i].at;""" if finish else """
        for (int64_t i = 0; i < n; i++) s->order[from + i] = (int64_t)(k[i] & 0xffffffffu);"""
    return f"""
    const int64_t n = to - from;
    if (n <= {MOST[64]}) {{
        uint64_t k[{MOST[64]}] __attribute__((aligned(64)));
        for (int64_t i = 0; i < n; i++) k[i] = (uint64_t)a[from + i].key << 32 | a[from + i].at;
        at_network_64(k, n);{unpack}
        return;
    }}"""


def _rest(d: DType, kind: str, finish: str, by_network: str) -> str:
    """at_order_rest_<kind>_<dtype>(s, a, b, from, to, high): one part of the keys by the digits that are left."""
    name = d.name
    own = f"at_ordering_{kind}_{name}"
    return f"""/* from..to, whose keys are the same from bit `high` on */
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
}}"""


def _buckets(d: DType, kind: str) -> str:
    """Keys of one first digit, apart from the others."""
    name = d.name
    own = f"at_ordering_{kind}_{name}"
    return f"""
static int at_order_buckets_{name}(at_call *at, void *given, int64_t group) {{
    (void)at;
    {own} *s = given;
    for (int64_t d = s->starts[group]; d < s->starts[group + 1]; d++) {{
        const int64_t from = d ? s->ends[d - 1] : 0, to = s->ends[d];
        if (to > from) at_order_rest_{kind}_{name}(s, s->b, s->a, from, to, s->high - s->width);
    }}
    return 0;
}}
"""
