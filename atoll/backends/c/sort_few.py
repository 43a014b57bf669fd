"""Values as unsigned keys of the same order, and few of them sorted in C without memory: by a network, by ranks, or inserted where there are no vectors."""

from __future__ import annotations

from atoll.backends.c.networks import MOST
from atoll.types.dtypes import DType

RANKED = 64  # keys of 64 bits whose places are wanted


def keys(d: DType) -> dict[str, str]:
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


def ranks(bits: int) -> str:
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


def small(d: DType, places: bool) -> str:
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


def inserted(d: DType, places: bool) -> str:
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
