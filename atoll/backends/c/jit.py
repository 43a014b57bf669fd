"""The C file of a program that is called from Python: the kernel, and two entries for the call path.

    int atoll_prepare(at_call *at, const int64_t *shape, int64_t *sizes, int64_t *dims)
        from the extents of the array arguments, in order: the sizes (checked) and the extents of the results; 1: an error, which
        the slow path finds again and words; 2: a size beyond all memory, computed in doubles because integers would wrap
    int atoll_entry(at_call *at)
        the program; 0, or which check failed
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.ainf.ir import Site
from atoll.backends.c import ops, vector_math
from atoll.backends.c.emit import JIT, Emitter
from atoll.backends.c.headers import called, headers, words
from atoll.backends.c.looks import UNITS
from atoll.backends.c.prelude import needed_by
from atoll.backends.c.sort import sorts_by
from atoll.backends.c.units import parts, shared, without_structs
from atoll.core import ir as core
from atoll.core.binding import MOST_SIZE, Step, plan
from atoll.loops import ir as lp
from atoll.loops.transform.split import may_be_negative
from atoll.origins import Marks
from atoll.sizes import Atom, Poly, Quot, Sym
from atoll.sizes.poly import factors, terms_in_order
from atoll.types.dtypes import BOOL
from atoll.types.types import Array, Index, flatten, shape_of

ALONE = "#define AT_OURS static\n#define AT_HERE static\n"  # a program in one file
_HIDDEN = '__attribute__((visibility("hidden")))'
_FIRST = f"#define AT_OURS {_HIDDEN}\n#define AT_HERE {_HIDDEN}\n"  # the first of several
_OTHER = f"#define AT_OURS {_HIDDEN}\n#define AT_HERE extern {_HIDDEN}\n"

MACROS = f"#define AT_UNITS (-(uint64_t){UNITS})" + """
#if defined(__clang__)
#define noipa noinline
#define AT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define AT_TOGETHER
#define AT_SIMD _Pragma("omp simd")
#elif defined(__GNUC__)
#define AT_INDEPENDENT _Pragma("GCC ivdep")
#define AT_TOGETHER _Pragma("GCC unroll 4")
#define AT_SIMD _Pragma("omp simd")
#else
#define AT_INDEPENDENT
#define AT_TOGETHER
#define AT_SIMD
#endif
#define AT_PIECE AT_OURS __attribute__((noipa))

AT_HERE const at_runtime *at_rt;

static inline void *at_alloc(int64_t count, size_t size) {
    if (count < 0) count = 0;
    return count > (int64_t)1 << 46 ? NULL : at_rt->alloc(count * (int64_t)size);
}

/* A count that would wrap around is too much memory: the same polynomial in doubles tells. */
static __attribute__((noinline, unused)) void *at_room(double wide, int64_t count, size_t size) { return wide < 0x1p46 ? at_alloc(count, size) : NULL; }

static inline void at_free(void *block) { at_rt->release(block); }

static __attribute__((noinline)) void at_free_all(void **held, int count) {
    for (int k = 0; k < count; k++) at_free(held[k]);
}

static inline int at_fail(at_call *at, int site) {
    at->site = site;
    return site + 1;
}

/* Long loops look now and then whether the user wants to stop (looks.py). They count up, so that one addition tells by its carry. */
static __attribute__((noinline, cold)) int at_interrupted(at_call *at) { return at_rt->poll(at); }
#if defined(__OPTIMIZE__)
#define AT_UNITS_OVER(units) __builtin_expect(__builtin_add_overflow(at_units, (uint64_t)(units), &at_units), 0)
#else /* compiled sooner */
#define AT_UNITS_OVER(units) ((at_units += (uint64_t)(units)) < (uint64_t)(units))
#endif
#define AT_LOOK(units) \\
    if (AT_UNITS_OVER(units)) { at_units = AT_UNITS; if (at_interrupted(at)) { status = -2; goto done; } }

static inline int at_no_memory(at_call *at) {
    (void)at;
    return -1;
}

#define at_open_result(at, ...) (at)->open_result(at, __VA_ARGS__)
#define at_print(at, number, count, items) (at)->print(at, number, count, items)
"""


@dataclass
class Generated:
    """A program in C, and what is needed to talk about it: the places that can fail, what is printed."""

    sites: list[Site]
    kinds: list[str]  # per site, whether each shown value is an integer or a double
    prints: list[lp.Print]
    consts: str  # what it is made of: constants, functions that do not depend on each other, and what calls them
    units: list[str]
    main: str
    kernel: str  # all of it but how it is called
    last: str  # and that

    @functools.cached_property
    def text(self) -> str:
        """In one file."""
        return _file(ALONE, [self.kernel, self.last], self._words([self.consts, *self.units, self.main]))

    @functools.cached_property
    def files(self) -> list[str]:
        """The same program as files that are compiled side by side; one when it is short."""
        return self.split(apart) if len(apart := parts(self.units)) > 1 else [self.text]

    @property
    def length(self) -> int:
        """Characters, without support code."""
        return len(self.kernel) + len(self.last)

    def split(self, groups: list[list[str]], beside: Sequence[str] = ()) -> list[str]:
        """The program as several files: the one that calls the units and has those `beside` it, then one for each group of them."""
        known = shared(self.units)
        first = _file(_FIRST, [self.consts, known, *map(without_structs, beside), self.main], self._words([self.consts, *beside, self.main]))
        return [first, *(_file(_OTHER, [self.consts, known, *map(without_structs, group)], self._words([self.consts, *group])) for group in groups)]

    @functools.cached_property
    def _known(self) -> dict[str, frozenset[str]]:
        return {text: words(text) for text in (self.consts, self.main, *self.units)}

    def _words(self, texts: Sequence[str]) -> frozenset[str]:
        return frozenset().union(*(self._known[text] for text in texts))

    def with_support(self, text: str) -> frozenset[str]:
        """The words of a part, and of the support code that it calls."""
        return with_support(self._known[text])


def _support(used: frozenset[str]) -> tuple[list[str], list[str]]:
    """Support code: helpers, and what sorts."""
    names = sorted(word for word in used if word.startswith("at_") and not word.endswith("("))
    sorting = sorts_by(names, True)
    return needed_by([*names, *sorted(frozenset().union(*map(words, sorting)))]), sorting


def with_support(used: frozenset[str]) -> frozenset[str]:
    """Words, and those of the support code that they call for; functions for one number (`at_one_log`) are the same with every compiler, whatever they call."""
    helpers, sorting = _support(frozenset(word for word in used if not word.startswith("at_one_")))
    return used.union(*map(words, helpers), *map(words, sorting))


def abi() -> str:
    return (Path(__file__).parents[2] / "runtime" / "native" / "abi.h").read_text()


def generate(core_fn: core.Function | None, fn: lp.Function, marks: Marks | None = None) -> Generated:
    """The file for a core function whose loops are `fn`; with marks, its lines tell where they come from. Without a core function it is a part of a
    program, whose caller knows all sizes, so there is no entry that finds them."""
    emitter = Emitter(fn, JIT, "at_program")
    emitter.mark_with(marks)
    kernel = emitter.kernel()
    entry = _entry(fn, emitter)
    prepare = "" if core_fn is None else prepare_text(core_fn, fn, emitter)
    kinds = sum(1 << k for k, name in enumerate(("f32", "f64")) if f"at_product_{name}(" in kernel or f"at_rt->product(at, &at_p, {k})" in kernel)
    has_products = f"const int atoll_has_products = {kinds};\n\n" if kinds else ""
    last = "\n\n".join([prepare, has_products + entry])
    main = "\n\n".join([*emitter.texts, last])
    return Generated(emitter.sites, emitter.kinds, emitter.prints, "\n\n".join(emitter.const_arrays()), emitter.units.texts, main, kernel, last)


def _file(where: str, body: list[str], used: frozenset[str]) -> str:
    """C with everything before it that it needs; `used` are its words."""
    helpers, sorting = _support(used)
    used = used.union(*map(words, helpers), *map(words, sorting))
    quick = vector_math.declarations_by(called(used))
    head = headers(used | words(quick) if quick else used)
    pieces = [abi(), head, where + MACROS, quick, "\n\n".join([*helpers, *sorting]), "\n\n".join(body)]
    return "\n".join(p for p in pieces if p) + "\n"


def _entry(fn: lp.Function, emitter: Emitter) -> str:
    args = ["at", *(f"at->sizes[{k}]" for k in range(len(fn.sizes)))]
    for k, p in enumerate(fn.inputs):
        t = p.dtype.c_name
        args.append(f"*(const {t} *)at->in[{k}]" if isinstance(p, lp.Var) else f"at->in[{k}]")
    for k, o in enumerate(fn.outputs):
        if not emitter.is_open(o.buffer):
            args.append(f"at->out[{k}]")
    return (
        "void atoll_init(const at_runtime *rt) { at_rt = rt; }\n\n"
        f"int atoll_entry(at_call *at) {{ return at_program_run({', '.join(args)}); }}"
    )


class _Numbers:
    """Where the host puts what it gives: leaves of parameters and their sizes, counted through."""

    def __init__(self, fn: core.Function) -> None:
        self.leaf: dict[tuple[int, int], int] = {}
        self.axis: dict[tuple[int, int, int], int] = {}
        for k, (_, t) in enumerate(fn.params):
            for leaf, (_, leaf_type) in enumerate(flatten(t)):
                self.leaf[(k, leaf)] = len(self.leaf)
                for axis in range(len(shape_of(leaf_type)[0])):
                    self.axis[(k, leaf, axis)] = len(self.axis)


def prepare_text(core_fn: core.Function, fn: lp.Function, emitter: Emitter, reads_arrays: bool = True) -> str:
    """Sizes from shapes, and the shapes of the results. Elements of arguments are looked at where the host can read them."""
    numbers = _Numbers(core_fn)
    names: dict[Atom, str] = {sym: f"s_{k}" for k, sym in enumerate(core_fn.sizes)}
    lines = ["    (void)at; (void)shape; (void)sizes; (void)dims;"]
    for k, (sym, t) in enumerate(core_fn.params):
        if isinstance(t, Index) or getattr(getattr(t, "dtype", None), "name", "") == "i64":
            names[sym] = f"v_{k}"
            lines.append(f"    const int64_t v_{k} = *(const int64_t *)at->in[{numbers.leaf[(k, 0)]}];")
            lines.append(f"    (void)v_{k};")
    for step in plan(core_fn):
        lines += _size_text(step, numbers.axis[(step.place.param, step.place.leaf, step.place.axis)], names)
    lines += _limits_text(core_fn, names)
    if reads_arrays:
        lines += _elements_text(core_fn, fn, emitter, numbers, names)
    lines += [f"    sizes[{k}] = {names[sym]};" for k, sym in enumerate(core_fn.sizes)]
    lines += _dims_text(core_fn, names)
    head = "int atoll_prepare(at_call *at, const int64_t *shape, int64_t *sizes, int64_t *dims) {"
    return "\n".join([head, *lines, "    return 0;", "}"])


def _size_text(step: Step, at: int, names: dict[Atom, str]) -> list[str]:
    """A size found from a length that was given, or the length compared with what it must be."""
    if step.solves is None:
        return [f"    if (shape[{at}] != {_poly(step.poly, names)}) return 1;"]
    name = names[step.solves]
    if step.rest is None:  # the size grows with it: bisection
        value = _poly(step.poly, names)
        return [
            f"    int64_t {name} = 1;",
            f"    while ({value} < shape[{at}]) {name} *= 2;",
            f"    for (int64_t low = 0, high = {name}; low < high;) {{",
            f"        {name} = low + (high - low) / 2;",
            f"        if ({value} < shape[{at}]) low = {name} + 1; else high = {name};",
            f"        {name} = low;",
            "    }",
            f"    if ({value} != shape[{at}]) return 1;",
        ]
    value = f"shape[{at}]" if not step.rest.terms else f"(shape[{at}] - ({_poly(step.rest, names)}))"
    if step.factor == 1:
        return [f"    const int64_t {name} = {value};"]
    factor = f"({_poly(step.factor, names)})"
    none = "" if step.factor.const() is not None else f"{factor} == 0 || "
    return [f"    if ({none}{value} % {factor} != 0) return 1;", f"    const int64_t {name} = {value} / {factor};"]


def _limits_text(core_fn: core.Function, names: dict[Atom, str]) -> list[str]:
    """Sizes that are sizes, what is required of them, and lengths that are far from overflow."""
    lines = [f"    if ({names[sym]} < 0 || {names[sym]} >= INT64_C({MOST_SIZE})) return 1;" for sym in core_fn.sizes]
    lines += [f"    if ({_poly(need.poly, names, double=True)} < 0) return 1;" for need in core_fn.requires]
    results = [size for _, leaf_type in flatten(core_fn.result) for size in shape_of(leaf_type)[0]]
    for size in [*(need.poly for need in core_fn.requires), *results]:
        if size.single() is None and size.leaves() and all(leaf in names for leaf in size.leaves()):
            lines.append(f"    if (fabs({_poly(size, names, double=True)}) >= 0x1p62) return 2;")
    return lines


def _elements_text(core_fn: core.Function, fn: lp.Function, emitter: Emitter, numbers: _Numbers, names: dict[Atom, str]) -> list[str]:
    """Elements of arguments that must be truth values, or indices of a size."""
    lines: list[str] = []
    for k, (_, t) in enumerate(core_fn.params):
        for leaf, (_, leaf_type) in enumerate(flatten(t)):
            sizes, elem = shape_of(leaf_type)
            number, axes = numbers.leaf[(k, leaf)], [numbers.axis[(k, leaf, a)] for a in range(len(sizes))]
            given = fn.inputs[number]
            if sizes and isinstance(given, lp.Buffer) and given.dtype is BOOL and given not in emitter.bytes:
                lines += _bool_check(number, axes)
            if isinstance(elem, Index):
                lines += _index_check(number, axes, _poly(elem.size, names))
    return lines


def _dims_text(core_fn: core.Function, names: dict[Atom, str]) -> list[str]:
    """Lengths of the results."""
    lines: list[str] = []
    for size in [size for _, leaf_type in flatten(core_fn.result) for size in shape_of(leaf_type)[0]]:
        known = all(leaf in names for leaf in size.leaves())
        extent = _poly(size, names) if known else "-1"  # which says that only running tells
        if known and may_be_negative(size):  # rows of length n - 1, of which there are n
            extent = f"{extent} > 0 ? {extent} : 0"
        lines.append(f"    dims[{len(lines)}] = {extent};")
    return lines


def _index_check(leaf: int, axes: list[int], n: str) -> list[str]:
    return _look_through(leaf, axes, "int64_t", f"p[i] < 0 || p[i] >= {n}")


def _bool_check(leaf: int, axes: list[int]) -> list[str]:
    """A view of other data may hold any bytes, which C must never see as bools; the slow path makes them 0 and 1."""
    return _look_through(leaf, axes, "uint8_t", "p[i] > 1")


def _look_through(leaf: int, axes: list[int], element: str, bad: str) -> list[str]:
    """Leave the quick path if any element of an argument is bad."""
    total = " * ".join(["(int64_t)1", *(f"shape[{a}]" for a in axes)])
    return [
        f"    {{ const {element} *p = at->in[{leaf}]; const int64_t total = {total};",
        "      int seen = 0;",
        f"      for (int64_t i = 0; i < total; i++) seen |= {bad};",
        "      if (seen) return 1; }",
    ]


def _poly(p: Poly, names: dict[Atom, str], double: bool = False) -> str:
    def atom(a: Atom) -> str:
        if isinstance(a, Quot):
            num, den = _poly(a.num, names, double), _poly(a.den, names, double)
            return f"floor(({num}) / ({den}))" if double else f"at_fdiv({num}, {den})"
        return f"(double){names[a]}" if double else names[a]

    if not p.terms:
        return "0"
    parts = []
    for mono, coef in terms_in_order(p, atom):
        number = [ops.literal(coef, _I64)] if coef != 1 or not mono else []
        parts.append(" * ".join([*number, *factors(mono, atom)]))
    return " + ".join(parts)


_I64 = lp.Index(Poly({})).dtype

__all__ = ["Array", "Generated", "Sym", "generate", "prepare_text"]
