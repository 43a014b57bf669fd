"""f16 and bf16 in C: 16 bits in memory, converted to and from f32 where they are read and written. Rounded to nearest even; infinities, NaN and
numbers below the normal ones as IEEE 754 has them. Without branches, so that loops of them run in vectors; by the processor's own instructions where
the compiler says it has them (F16C, Arm's half precision)."""

from __future__ import annotations

_NATIVE = "#if (defined(__F16C__) || defined(__ARM_FP16_FORMAT_IEEE)) && defined(__FLT16_MAX__)\n{fast}#else\n{plain}#endif"

_HALF_TO_FLOAT = """static inline float at_f32_of_f16(uint16_t h) {
    const uint32_t rest = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float scaled;
    memcpy(&scaled, &rest, 4);
    scaled *= 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &scaled, 4);
    bits = (rest >= 0x0f800000u ? rest | 0x7f800000u : bits) | sign;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
"""

_FLOAT_TO_HALF = """static inline uint16_t at_f16_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    float low;
    memcpy(&low, &size, 4);
    low += 0.5f;
    uint32_t below;
    memcpy(&below, &low, 4);
    below -= 0x3f000000u;
    const uint32_t usual = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    const uint32_t nan = 0x7c00u | (size >> 13 & 0x3ffu) | (uint32_t)((size >> 13 & 0x3ffu) == 0);
    const uint32_t found = size > 0x7f800000u ? nan : size >= 0x47800000u ? 0x7c00u : size < 0x38800000u ? below : usual;
    return (uint16_t)(sign | found);
}
"""


def _of_processor(name: str, body: str) -> str:
    return f"static inline {name} {{\n{body}}}\n"


_FAST_TO_FLOAT = _of_processor("float at_f32_of_f16(uint16_t h)", "    _Float16 x;\n    memcpy(&x, &h, 2);\n    return (float)x;\n")
_FAST_TO_HALF = _of_processor("uint16_t at_f16_of_f32(float x)", "    const _Float16 y = (_Float16)x;\n    uint16_t h;\n    memcpy(&h, &y, 2);\n    return h;\n")

STORAGE_HELPERS: dict[str, str] = {
    "at_f32_of_f16": _NATIVE.format(fast=_FAST_TO_FLOAT, plain=_HALF_TO_FLOAT),
    "at_f16_of_f32": _NATIVE.format(fast=_FAST_TO_HALF, plain=_FLOAT_TO_HALF),
    "at_f32_of_bf16": """static inline float at_f32_of_bf16(uint16_t h) {
    const uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}""",
    "at_bf16_of_f32": """static inline uint16_t at_bf16_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, nan = (bits >> 16 & 0x8000u) | 0x7fc0u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest);
}""",
}
