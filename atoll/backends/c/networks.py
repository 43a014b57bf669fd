"""Sorting a few thousand keys at most by a network of exchanges, in vectors: no branches, no tables, all of it in the first cache.

Bitonic, every merge by mirror images, so that all exchanges go the same way. Keys are unsigned; who needs the order of equal ones makes them
different. Only for compilers that know GNU vectors.
"""

from __future__ import annotations

MOST = {32: 4096, 64: 2048}  # keys: beyond, digits are quicker


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values))


def network(bits: int) -> str:
    """at_network_<bits>(v, n): sorts the n keys at v, aligned to 64, with room for whole vectors."""
    lanes = 512 // bits
    u, letter, word, mask = (f"uint{bits}_t", "d", "int", "unsigned short") if bits == 32 else (f"uint{bits}_t", "q", "long long", "unsigned char")
    lane = f"at_lanes_{bits}"

    def step(partner: list[int], takes: int) -> str:
        """One exchange inside a vector: the lanes with bit `takes` take the larger."""
        picks = [k + lanes if k & takes else k for k in range(lanes)]
        return (
            f"    p = __builtin_shufflevector(v, v, {_numbers(partner)});\n"
            f"    v = __builtin_shufflevector(at_least_{bits}(v, p), at_most_{bits}(v, p), {_numbers(picks)});"
        )

    def mirrored(size: int) -> str:
        return step([k ^ (size - 1) for k in range(lanes)], size // 2)

    def apart(distance: int) -> str:
        return step([k ^ distance for k in range(lanes)], distance)

    sort, size = [], 2
    while size <= lanes:
        sort.append(mirrored(size))
        distance = size // 4
        while distance:
            sort.append(apart(distance))
            distance //= 2
        size *= 2
    merge, distance = [], lanes // 2
    while distance:
        merge.append(apart(distance))
        distance //= 2
    nl = "\n"
    back = _numbers(list(range(lanes - 1, -1, -1)))
    return f"""typedef {u} {lane} __attribute__((vector_size(64), may_alias));
#if defined(__clang__)
#define at_least_{bits}(a, b) __builtin_elementwise_min(a, b)
#define at_most_{bits}(a, b) __builtin_elementwise_max(a, b)
#elif defined(__AVX512F__)
typedef {word} at_words_{bits} __attribute__((vector_size(64)));
static inline {lane} at_least_{bits}({lane} a, {lane} b) {{
    return ({lane})__builtin_ia32_pminu{letter}512_mask((at_words_{bits})a, (at_words_{bits})b, (at_words_{bits})a, ({mask})-1);
}}
static inline {lane} at_most_{bits}({lane} a, {lane} b) {{
    return ({lane})__builtin_ia32_pmaxu{letter}512_mask((at_words_{bits})a, (at_words_{bits})b, (at_words_{bits})a, ({mask})-1);
}}
#else
static inline {lane} at_least_{bits}({lane} a, {lane} b) {{
    const {lane} m = ({lane})(a < b);
    return (a & m) | (b & ~m);
}}
static inline {lane} at_most_{bits}({lane} a, {lane} b) {{
    const {lane} m = ({lane})(a < b);
    return (b & m) | (a & ~m);
}}
#endif

static inline {lane} at_sorted_{bits}({lane} v) {{
    {lane} p;
{nl.join(sort)}
    return v;
}}

static inline {lane} at_merged_{bits}({lane} v) {{
    {lane} p;
{nl.join(merge)}
    return v;
}}

static __attribute__((noinline)) void at_network_{bits}({u} *keys, int64_t n) {{
    {lane} *v = ({lane} *)keys;
    const int used = (int)((n + {lanes - 1}) / {lanes});   /* beyond, all keys are the largest: they stay */
    for (int64_t k = n; k < used * {lanes}; k++) keys[k] = ~({u})0;
    for (int i = 0; i < used; i++) v[i] = at_sorted_{bits}(v[i]);
    for (int size = 2; size < 2 * used; size *= 2)
        for (int b = 0; b < used; b += size) {{
            const int end = b + size < used ? b + size : used;
            for (int j = end - 1, i = 2 * b + size - 1 - j; i < j; i++, j--) {{
                const {lane} x = v[i], y = __builtin_shufflevector(v[j], v[j], {back});
                const {lane} most = at_most_{bits}(x, y);
                v[i] = at_least_{bits}(x, y);
                v[j] = __builtin_shufflevector(most, most, {back});
            }}
            for (int d = size / 4; d > 0; d /= 2)
                for (int i = b; i + d < end; i += 2 * d)
                    for (int j = i; j < i + d && j + d < end; j++) {{
                        const {lane} x = v[j], y = v[j + d];
                        v[j] = at_least_{bits}(x, y);
                        v[j + d] = at_most_{bits}(x, y);
                    }}
            for (int i = b; i < end; i++) v[i] = at_merged_{bits}(v[i]);
        }}
}}"""
