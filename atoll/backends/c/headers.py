"""What a compiled program needs of C's library, said without its headers: reading <math.h>, <complex.h> and <string.h> takes a C compiler as long as a loop
or two of the program, and every file of it begins with them. Complex numbers, and functions that are not in the table, have the headers.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from atoll.core.prims import PRIMS

_FUNCTIONS = {p.c: p.arity for p in PRIMS.values() if p.c} | {"nearbyint": 1, "round": 1, "remainder": 2, "fmin": 2, "fmax": 2}  # of primitives, and of our own code
_MEMORY = {
    "memcpy": "void *memcpy(void *restrict, const void *restrict, size_t);",
    "memset": "void *memset(void *, int, size_t);",
    "memmove": "void *memmove(void *, const void *, size_t);",
}
_MACROS = {
    "INFINITY": "#define INFINITY (__builtin_inff())",
    "NAN": '#define NAN (__builtin_nanf(""))',
    **{name: f"#define {name}(x) __builtin_{name}(x)" for name in ("isnan", "isinf", "isfinite", "signbit")},
}
_TABLE = {
    **{f"{name}{f}": f"{t} {name}{f}({', '.join([t] * count)});" for name, count in _FUNCTIONS.items() for f, t in (("", "double"), ("f", "float"))},
    **_MEMORY,
    **_MACROS,
}
_FULL = re.compile(
    r"(?:ldexp|scalbn|frexp|modf|ll?rint|lround|ilogb|logb|nextafter|fdim|memcmp|memchr|str(?!uct$)[a-z]+|fpclassify|isnormal|is(?:greater|less|unordered)\w*|M_PI"
    r"|complex|c(?:real|imag|abs|arg|proj|exp|log|sqrt|pow)|conj|ca?(?:sin|cos|tan)h?|CMPLX)[fF]?"
)
_WORD = re.compile(r"[A-Za-z_]\w*\(?")

HEAD = "#include <complex.h>\n#include <math.h>\n#include <stdbool.h>\n#include <string.h>\n"


def words(text: str) -> frozenset[str]:
    """Every name and keyword in C; those that are called also with a parenthesis, `exp(`."""
    found = frozenset(_WORD.findall(text))
    return found.union(word[:-1] for word in found if word.endswith("("))


def called(used: Collection[str]) -> set[str]:
    """Those of words that are called."""
    return {word[:-1] for word in used if word.endswith("(")}


def headers(used: Collection[str]) -> str:
    """What stands before C with these words, after <stddef.h> and <stdint.h>."""
    if any(map(_FULL.fullmatch, used)):
        return HEAD
    return "#include <stdbool.h>\n" + "".join(f"{line}\n" for name, line in _TABLE.items() if name in used)
