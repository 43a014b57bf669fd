"""Sorting a few thousand keys at most by a network of exchanges, in vectors: no branches, no tables, all of it in the first cache.

Bitonic, every merge by mirror images, so that all exchanges go the same way. Keys are unsigned; who needs the order of equal ones makes them
different. Only for compilers that know GNU vectors.
"""

from __future__ import annotations

MOST = {32: 4096, 64: 2048}  # keys: beyond, digits are quicker


FEW = (2, 3, 4, 6, 8)  # vectors that are sorted in registers


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values))


def network(bits: int) -> str:
    """at_network_<bits>(v, n): sorts the n keys at v, aligned to 64, with room for whole vectors, eight by eight."""
    lanes = 512 // bits
    u, lane = f"uint{bits}_t", f"at_lanes_{bits}"
    nl = "\n"
    return f"""{_exchanges(bits)}

{_vectors(bits)}

static __attribute__((noinline)) void at_network_{bits}({u} *keys, int64_t n) {{
    {lane} *v = ({lane} *)keys;
    const int used = (int)((n + {lanes - 1}) / {lanes}), last = used & 7;   /* beyond, all keys are the largest: they stay */
    const int rest = last > 6 ? 8 : last > 4 ? 6 : last, whole = used & ~7;
    for (int64_t k = n; k < (whole + rest) * {lanes}; k++) keys[k] = ~({u})0;
    for (int g = 0; g < whole; g += 8) at_few_8_{bits}(v + g);
    switch (rest) {{
    case 1: v[whole] = at_sorted_{bits}(v[whole]); break;
{nl.join(f"    case {count}: at_few_{count}_{bits}(v + whole); break;" for count in FEW)}
    }}
    for (int size = 16; size < 2 * used; size *= 2)
        for (int b = 0; b < used; b += size) {{
            const int end = b + size < used ? b + size : used;
            for (int j = end - 1, i = 2 * b + size - 1 - j; i < j; i++, j--) {{
                const {lane} x = v[i], y = at_turned_{bits}(v[j]), most = at_most_{bits}(x, y);
                v[i] = at_least_{bits}(x, y);
                v[j] = at_turned_{bits}(most);
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


def _exchanges(bits: int) -> str:
    """The smaller and the larger of two vectors lane by lane, and shuffles, by what the compiler has for them."""
    lanes = 512 // bits
    u, letter, word, mask = (f"uint{bits}_t", "d", "int", "unsigned short") if bits == 32 else (f"uint{bits}_t", "q", "long long", "unsigned char")
    lane = f"at_lanes_{bits}"
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
#define at_taken_{bits}(a, b, lanes, ...) ({lane})__builtin_ia32_pmaxu{letter}512_mask((at_words_{bits})(a), (at_words_{bits})(b), (at_words_{bits})at_least_{bits}(a, b), ({mask})(lanes))
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
#if defined(__clang__) || __GNUC__ >= 12   /* gcc learned clang's word late */
#define at_shuffled_{bits}(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define at_shuffled_{bits}(a, b, ...) __builtin_shuffle(a, b, ({lane}){{__VA_ARGS__}})
#endif
#if !defined(at_taken_{bits})   /* the larger in the lanes of a mask, the smaller in the others */
#define at_taken_{bits}(a, b, lanes, ...) at_shuffled_{bits}(at_least_{bits}(a, b), at_most_{bits}(a, b), __VA_ARGS__)
#endif
#define at_turned_{bits}(v) at_shuffled_{bits}(v, v, {back})"""


def _vectors(bits: int) -> str:
    """A vector sorted, a bitonic one merged, and a few of them sorted."""
    lanes = 512 // bits
    lane = f"at_lanes_{bits}"
    nl = "\n"
    return f"""static inline {lane} at_sorted_{bits}({lane} v) {{
    {lane} p;
{nl.join(_sort_steps(lanes, bits))}
    return v;
}}

static inline {lane} at_merged_{bits}({lane} v) {{
    {lane} p;
{nl.join(_apart(distance, lanes, bits) for distance in _halves(lanes // 2))}
    return v;
}}

{nl.join(_few(count, lanes, bits) for count in FEW)}"""


def _halves(n: int) -> list[int]:
    """n, n / 2, ... 1"""
    return [n >> k for k in range(n.bit_length())]


def _step(partner: list[int], takes: int, bits: int, v: str) -> str:
    """One exchange inside a vector: the lanes with bit `takes` take the larger."""
    lanes = len(partner)
    picks = [k + lanes if k & takes else k for k in range(lanes)]
    mask = sum(1 << k for k in range(lanes) if k & takes)
    return f"    p = at_shuffled_{bits}({v}, {v}, {_numbers(partner)});\n    {v} = at_taken_{bits}({v}, p, {mask:#x}, {_numbers(picks)});"


def _mirrored(size: int, lanes: int, bits: int, v: str = "v") -> str:
    return _step([k ^ (size - 1) for k in range(lanes)], size // 2, bits, v)


def _apart(distance: int, lanes: int, bits: int, v: str = "v") -> str:
    return _step([k ^ distance for k in range(lanes)], distance, bits, v)


def _sort_steps(lanes: int, bits: int, v: str = "v") -> list[str]:
    steps, size = [], 2
    while size <= lanes:
        steps.append(_mirrored(size, lanes, bits, v))
        steps += [_apart(distance, lanes, bits, v) for distance in _halves(size // 4)]
        size *= 2
    return steps


def _few(count: int, lanes: int, bits: int) -> str:
    """at_few_<count>_<bits>(v): so many vectors, in registers from the first exchange to the last; what is beyond them would stay there."""
    lane = f"at_lanes_{bits}"
    names = [f"v{k}" for k in range(count)]
    lines = [f"    {lane} {', '.join(f'{v} = at[{k}]' for k, v in enumerate(names))}, p;"]

    def exchange(a: str, b: str) -> None:
        lines.append(f"    p = at_least_{bits}({a}, {b}), {b} = at_most_{bits}({a}, {b}), {a} = p;")

    for v in names:
        lines += _sort_steps(lanes, bits, v)
    size = 2
    while size < 2 * count:
        for b in range(0, count, size):
            for k in range(size // 2):
                if b + size - 1 - k >= count:
                    continue
                x, y = names[b + k], names[b + size - 1 - k]
                lines.append(f"    {y} = at_turned_{bits}({y});")
                exchange(x, y)
                lines.append(f"    {y} = at_turned_{bits}({y});")
            for d in _halves(size // 4):
                for k in range(b, min(b + size, count - d)):
                    if not (k - b) & d:
                        exchange(names[k], names[k + d])
        for v in names:
            lines += [_apart(d, lanes, bits, v) for d in _halves(lanes // 2)]
        size *= 2
    lines += [f"    {' '.join(f'at[{k}] = {v};' for k, v in enumerate(names))}"]
    return f"static __attribute__((noinline)) void at_few_{count}_{bits}({lane} *at) {{\n" + "\n".join(lines) + "\n}\n"
