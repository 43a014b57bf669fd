"""Stable sorting in C: the order of keys by a radix sort, NaN last, -0 equal to 0. Printed when a program sorts."""

from __future__ import annotations

from atoll.types.dtypes import DTYPES, DType


def _encode(d: DType) -> str:
    """Key bits whose unsigned order is the order of the values."""
    u = f"uint{d.bits}_t"
    top = f"(({u})1 << {d.bits - 1})"
    if d.kind == "b" or d.kind == "u":
        return f"    return ({u})x;"
    if d.kind == "i":
        return f"    return ({u})x ^ {top};"
    return (
        f"    {u} k;\n    x = x == 0 ? 0 : x;\n    if (x != x) return ({u})~({u})0;\n    memcpy(&k, &x, sizeof k);\n"
        f"    return k & {top} ? ({u})~k : ({u})(k | {top});"
    )


def argsort(d: DType) -> str:
    """at_argsort_<dtype>(keys, order, n): 0, or 1 when there is no memory. Places are kept in 32 bits while they fit."""
    bits = max(8, d.bits)
    u = f"uint{bits}_t"
    return f"""static inline {u} at_key_{d.name}({d.c_name} x) {{
{_encode(d)}
}}

{_radix(d, "uint32_t", "few")}

{_radix(d, "int64_t", "many")}

/* the stable order of n keys */
static int at_argsort_{d.name}(const {d.c_name} *keys, int64_t *order, int64_t n) {{
    if (n < 64) {{
        for (int64_t i = 0; i < n; i++) {{
            const {u} k = at_key_{d.name}(keys[i]);
            int64_t j = i;
            for (; j > 0 && at_key_{d.name}(keys[order[j - 1]]) > k; j--) order[j] = order[j - 1];
            order[j] = i;
        }}
        return 0;
    }}
    return n < INT64_C(4294967296) ? at_radix_few_{d.name}(keys, order, n) : at_radix_many_{d.name}(keys, order, n);
}}"""


def _radix(d: DType, place: str, name: str) -> str:
    """Least digit first; a digit that is the same everywhere is passed over."""
    bits = max(8, d.bits)
    u = f"uint{bits}_t"
    passes = -(-bits // 11) if bits > 8 else 1
    digit = 11 if bits > 8 else 8
    size = 1 << digit
    return f"""static int at_radix_{name}_{d.name}(const {d.c_name} *keys, int64_t *order, int64_t n) {{
    typedef struct {{ {u} key; {place} at; }} pair;
    pair *a = (pair *)at_alloc(n, sizeof(pair)), *b = (pair *)at_alloc(n, sizeof(pair));
    int64_t (*count)[{size}] = at_alloc({passes}, sizeof *count);
    if (!a || !b || !count) {{
        at_free(a);
        at_free(b);
        at_free(count);
        return 1;
    }}
    memset(count, 0, {passes} * sizeof *count);
    for (int64_t i = 0; i < n; i++) {{
        const {u} k = at_key_{d.name}(keys[i]);
        a[i].key = k;
        a[i].at = ({place})i;
        for (int p = 0; p < {passes}; p++) count[p][(k >> (p * {digit})) & {size - 1}]++;
    }}
    for (int p = 0; p < {passes}; p++) {{
        int64_t total = 0, largest = 0;
        for (int d = 0; d < {size}; d++) {{
            const int64_t c = count[p][d];
            if (c > largest) largest = c;
            count[p][d] = total;
            total += c;
        }}
        if (largest == n) continue;
        for (int64_t i = 0; i < n; i++) b[count[p][(a[i].key >> (p * {digit})) & {size - 1}]++] = a[i];
        pair *t = a;
        a = b;
        b = t;
    }}
    for (int64_t i = 0; i < n; i++) order[i] = a[i].at;
    at_free(a);
    at_free(b);
    at_free(count);
    return 0;
}}"""


SORTS = {f"at_argsort_{d.name}": argsort(d) for d in DTYPES.values() if not d.is_complex}
