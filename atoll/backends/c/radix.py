"""Sorting by digits in C: counting and moving by one digit, all digits from the least on, a first split by first digits in parts that threads share.

Elements are keys or pairs of a key and a place; `kind` names the C functions, `key` is how an element's key is read. sort.py says what is made of it.
"""

from __future__ import annotations

COMMON = """/* tasks of a sort: part 0 .. parts - 1 */
static int at_in_parts(at_call *at, int (*task)(at_call *, void *, int64_t), void *given, int64_t parts) {
    return parts > 1 ? at_rt->parallel(at, task, given, parts, 0) : task(at, given, 0);
}

static inline int64_t at_sort_parts(int64_t n) {
    const int64_t threads = n < 65536 ? 1 : at_rt->threads(), parts = threads > 1 ? 2 * threads : 1;
    return parts < 64 ? parts : 64;
}"""

PLAIN_COMMON = """static int at_in_parts(int (*task)(void *, int64_t), void *given, int64_t parts) {
    for (int64_t k = 0; k < parts; k++) task(given, k);
    return 0;
}

static int64_t at_sort_parts(int64_t n) {
    (void)n;
    return 1;
}"""

BITS = """enum { AT_DIGITS = 2048, AT_WIDEST = 13, AT_SPLIT = 65536 };   /* from so many keys on, they are split by first digits and sorted apart */

/* bits low .. high of keys are not the same everywhere */
static inline void at_sort_bits(uint64_t differ, int *low, int *high) {
    *low = *high = 0;
    while (differ >> *high) {
        if (++*high == 64) break;
    }
    while (*low < *high && !(differ >> *low & 1)) ++*low;
}"""


def radix(kind: str, element: str, key: str) -> str:
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


def split(kind: str, element: str, key: str) -> str:
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


def groups(what: str) -> str:
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


def runs(own: str, element: str, name: str, kind: str, key: str, same: str, rekey: str) -> str:
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
