"""Names of C that a user's name must not be: keywords, types, macros and functions of the headers that generated code includes."""

from __future__ import annotations

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
_OURS = "at status done workspace".split()

RESERVED = frozenset([*_KEYWORDS, *_MATH, *(f"{name}{end}" for name in _MATH for end in "fl"), *_MATH_MACROS, *_OLD_MATH, *_TYPES, *_LIBRARY, *_OURS, "I", "NAN", "INFINITY", "NULL"])


def safe(name: str) -> str:
    """A user's name that is not C's."""
    clean = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    if not clean or clean[0].isdigit():
        clean = f"v{clean}"
    taken = clean.rstrip("_") in RESERVED or clean.startswith(("at_", "atoll_", "__"))
    macro = len(clean) > 1 and clean.isupper()  # INT64_MAX, M_PI
    reserved = clean[0] == "_" and clean[1:2].isupper()
    return f"{clean}_" if taken or macro else f"v{clean}" if reserved else clean
