"""Names of C that a user's name must not be: keywords, types, macros and functions of the headers that generated code includes."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short
    signed sizeof static struct switch typedef union unsigned void volatile while asm typeof unix linux i386 near far""".split()
_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb
    ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round
    scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan ctanh""".split()
_MATH_MACROS = "fpclassify isfinite isinf isnan isnormal signbit isgreater isgreaterequal isless islessequal islessgreater isunordered".split()
_OLD_MATH = "y0 y1 yn j0 j1 jn gamma drem significand".split()
_WIDTHS = (8, 16, 32, 64)
_TYPES = [
    *(f"{sign}int{kind}{bits}_t" for sign in ("", "u") for kind in ("", "_least", "_fast") for bits in _WIDTHS),
    *"intptr_t uintptr_t intmax_t uintmax_t size_t ptrdiff_t wchar_t wint_t max_align_t float_t double_t ssize_t off_t time_t clock_t div_t ldiv_t lldiv_t".split(),
    *"bool true false complex imaginary".split(),
]
_LIBRARY = """abort abs alloca assert atexit bsearch calloc clock div errno exit fclose fflush fopen fprintf fputs fread free fwrite getenv index labs llabs main
    malloc memchr memcmp memcpy memmove memset offsetof printf putchar puts qsort rand realloc remove rename rindex signal snprintf sprintf srand
    stderr stdin stdout strcat strchr strcmp strcpy strlen strncmp strtod strtol system time va_arg va_end va_list va_start vprintf""".split()
_MADE = re.compile(r"[A-Za-z0-9_]+")
_OURS = "at status done workspace".split()

RESERVED = frozenset([*_KEYWORDS, *_MATH, *(f"{name}{end}" for name in _MATH for end in "fl"), *_MATH_MACROS, *_OLD_MATH, *_TYPES, *_LIBRARY, *_OURS, "I", "NAN", "INFINITY", "NULL"])


_HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
    stdnoreturn string strings tgmath threads time uchar wchar wctype unistd fcntl pthread sched""".split()
_ESCAPED = re.compile(r"v+u_")
_UNDERSCORE = re.compile(r"v*_")


@functools.cache
def _library() -> tuple[frozenset[str], frozenset[str]]:
    """Macros of headers, and symbols of the C library (tools/c_library_names.py)."""
    lines = (Path(__file__).parent / "library_names.txt").read_text().splitlines()
    found = {kind: frozenset(names.split()) for kind, _, names in (line.partition(": ") for line in lines)}
    return found["macros"], found["symbols"]


@functools.cache
def safe(name: str) -> str:
    """A user's name that is not C's, in ASCII. Different names stay different: each class of names that are changed is closed under its change."""
    name = name.replace("'", "_")  # of MADL, whose files look themselves whether a name is free
    if not name.isascii() or not (name.isidentifier() or _MADE.fullmatch(name)):
        return "vu_" + "".join(c if c.isascii() and c.isalnum() else "__" if c == "_" else f"_u{ord(c):x}_" for c in name)
    if _ESCAPED.match(name) or _UNDERSCORE.match(name) or name[0].isdigit():  # vu_ is taken by those above, names with _ first by C
        return f"v{name}"
    stem = name.rstrip("_")
    taken = stem in RESERVED or stem in _library()[0] or name.startswith(("at_", "atoll_"))
    macro = len(name) > 1 and name.isupper()  # INT64_MAX, M_PI
    return f"{name}_" if taken or macro else name


@functools.cache
def safe_symbol(name: str) -> str:
    """A user's name for a function others can see: not one of the C library's either, nor is its file one of C's headers."""
    clean = safe(name)
    stem = clean.rstrip("_")
    return f"{clean}_" if clean == name and (stem in _library()[1] or stem in _HEADERS) else clean
