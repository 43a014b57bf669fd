"""Names a C function may not have: those of the C library. `times` and `exp` of a program become `times_` and `exp_`."""

from __future__ import annotations

import re

from atoll.backends.c.emit import safe
from atoll.madl import graph as g

_MATH = """
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs
hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod remainder remquo copysign nan nextafter
nexttoward fdim fmax fmin fma j0 j1 jn y0 y1 yn gamma
""".split()

_OTHERS = """
main errno assert abort abs atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv malloc mblen qsort rand realloc srand
strtod strtof strtol strtoll strtoul system memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat strncmp
strncpy strpbrk strrchr strspn strstr strtok strxfrm index rindex clearerr fclose feof ferror fflush fgetc fgets fopen fprintf fputc fputs fread freopen
fscanf fseek ftell fwrite getc getchar gets perror printf putc putchar puts remove rename rewind scanf setbuf snprintf sprintf sscanf tmpfile ungetc
vprintf asctime clock ctime difftime gmtime localtime mktime strftime time times signal raise setjmp longjmp isalnum isalpha isdigit islower isprint isspace
isupper tolower toupper open close read write link unlink pipe dup fork exec execv wait kill sleep alarm pause access send recv socket bind listen accept
connect select poll stat sync brk sbrk isnan isinf isfinite isnormal signbit fpclassify cabs carg conj creal cimag cexp clog csqrt
""".split()

MATH = frozenset([*_MATH, *(name + suffix for name in _MATH for suffix in "fl"), *"isnan isinf isfinite signbit INFINITY NAN HUGE_VAL".split()])
"""What needs math.h."""

OWN = frozenset(["self", "size_t", "ptrdiff_t", *(f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64))])
"""What our files use themselves."""

RESERVED = MATH | OWN | frozenset(_OTHERS)


def functions(graph: g.Graph) -> re.Pattern[str]:
    """The names of the C functions that the code of an operator may call."""
    called = {"memcpy"}
    for node in g.scope_nodes(graph.body):
        if isinstance(node, g.Call):
            called.add(safe(node.scheme.name))
        elif isinstance(node, g.Op):
            trees = [node.tree]
            while trees:
                tree = trees.pop()
                if isinstance(tree, g.Operate):
                    called |= {tree.op, f"{tree.op}f"}
                    trees += tree.args
    return re.compile(f"(?:{'|'.join(map(re.escape, called))})(?:_[0-9]+)?(?:_start|_run|_cycle|_)?|madl_.*|{'|'.join(OWN)}")


def all_names(name: str) -> set[str]:
    """What a node makes of its name."""
    return {name, *(f"{name}_{part}" for part in ("start", "reset", "init", "step", "state", "self", "get", "run", "cycle", "copy"))}
