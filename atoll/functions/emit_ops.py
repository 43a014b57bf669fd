"""Operators as C: scalar ones by the back end's table, arrays through heap.h, checks, kernels."""

from __future__ import annotations

from typing import Any

from atoll.ainf.ir import Site
from atoll.backends.c import ops
from atoll.backends.c.emit import JIT
from atoll.backends.c.emit import Emitter as LoopEmitter
from atoll.functions import ir
from atoll.functions.extern import Extern
from atoll.functions.kernels import Kernel, element_rep, leaf_types
from atoll.functions.operators import Operator
from atoll.loops import ir as lp
from atoll.lower.make import make_loops, printed_loops
from atoll.origins import Marks
from atoll.sizes import Atom, Poly, Quot
from atoll.types.dtypes import DTYPES, I64
from atoll.types.types import Array, shape_of


class Operators:
    """Prints operators, and collects the kernels and the places that can fail."""

    def __init__(self, marks: Marks | None = None) -> None:
        self.marks = marks
        self.sites: list[Site] = []
        self.kinds: list[str] = []
        self.prints: list[lp.Print] = []
        self.kernels: dict[Kernel, tuple[int, int, lp.Function]] = {}  # first site, first print, loops
        self.texts: list[str] = []

    def emit(self, op: Operator, results: list[str], args: list[str], given: ir.Vars) -> list[str]:
        info = op.info
        if isinstance(info, Site):
            return self.check(info, args, given)
        if isinstance(info, Kernel):
            return self.kernel(info, results, args)
        if isinstance(info, Extern):
            return self.extern(info, results, args)
        head, *rest = info
        if head in _ARRAYS:
            return _ARRAYS[head](results, args, rest)  # type: ignore[no-any-return]
        if head == "cast":
            return [f"{results[0]} = {ops.cast(args[0], DTYPES[rest[0]], DTYPES[rest[1]])};"]
        if head == "fits":
            return [f"{results[0]} = {_fits(args[0], *rest)};"]
        dtype = DTYPES[rest[0]]
        return [f"{results[0]} = {ops.call(head, args, dtype, DTYPES[op.results[0]], True)};"]

    # -- checks

    def check(self, site: Site, args: list[str], given: ir.Vars) -> list[str]:
        number = len(self.sites)
        self.sites.append(site)
        kinds = ""
        shown = []
        for k, (text, x) in enumerate(zip(args[1:], given[1:], strict=True)):
            real = DTYPES[x.rep].is_float
            kinds += "d" if real else "i"
            shown.append(f"H->call->args[{k}].{'d' if real else 'i'} = {text};")
        self.kinds.append(kinds)
        return [f"if (AT_UNLIKELY(!{args[0]})) {{ {' '.join(shown)} at_check_failed(H, {number}); }}"]

    # -- modules

    def extern(self, fn: Extern, results: list[str], args: list[str]) -> list[str]:
        """A call of a module's function; several results come back in a struct, as emit.py returns them."""
        declared = fn.prototype()
        if declared not in self.texts:
            self.texts.append(declared)
        call = f"{fn.symbol}({', '.join(['H', *args])})"
        if len(results) == 0:
            return [f"{call};"]
        if len(results) == 1:
            return [f"{results[0]} = {call};"]
        moves = " ".join(f"{r} = at_got.r{k};" for k, r in enumerate(results))
        return [f"{{ {fn.symbol}_results at_got = {call}; {moves} }}"]

    # -- kernels

    def kernel(self, kernel: Kernel, results: list[str], args: list[str]) -> list[str]:
        base, prints, loops = self.compiled(kernel)
        fn = kernel.fn
        names: dict[Atom, str] = dict(zip(fn.sizes, args, strict=False))
        position = len(fn.sizes)
        inputs = list(args[: len(fn.sizes)])
        for sym, t in fn.params:
            del t
            names.setdefault(sym, "")
        for (sym, _), count in zip(fn.params, _leaf_counts(kernel), strict=True):
            if count == 1:
                names[sym] = args[position]
            position += count
        for text, t in zip(args[len(fn.sizes) :], kernel.inputs, strict=True):
            inputs.append(f"{text}->data" if isinstance(t, Array) else text)
        lines = ["{"]
        outs = []
        after = []
        opened = False
        for k, (name, t, out) in enumerate(zip(results, kernel.outputs, loops.outputs, strict=True)):
            elem = element_rep(t)
            item, kind = (DTYPES[elem].size, 0) if elem in DTYPES else (8, 1)
            if not isinstance(t, Array):
                c = DTYPES[elem].c_name if elem in DTYPES else "uint64_t"
                lines.append(f"  {c} at_s{k};")
                outs.append(f"&at_s{k}")
                after.append(f"  {name} = at_s{k};" + ("" if kind == 0 else f" at_dup({name});"))
            elif self.is_open(loops, out):
                opened = True
                after.append(f"  {name} = at_opened[{k}];")
            else:
                dims = ", ".join(_poly(p, names) for p in shape_of(t)[0])
                lines.append(f"  {name} = at_array_of(H, {item}, {kind}, {len(shape_of(t)[0])}, (int64_t[]){{{dims}}});")
                outs.append(f"{name}->data")
            if kind == 1 and isinstance(t, Array):
                after.append(f"  at_count_values({name});")
        if opened:
            sizes = ", ".join(str(DTYPES[element_rep(t)].size if element_rep(t) in DTYPES else -8) for t in kernel.outputs)
            lines.append(f"  static const int64_t at_items[] = {{{sizes}}};")
            lines.append(f"  at_array *at_opened[{len(kernel.outputs)}];")
            lines.append("  H->items = at_items; H->opened = at_opened;")
        if prints >= 0:
            lines.append(f"  H->print_base = {prints} + at_print_base;")
        lines.append(f"  at_kernel_done(H, {kernel.name}_run({', '.join(['&H->at', *inputs, *outs])}), {base});")
        return [*lines, *after, "}"]

    def is_open(self, loops: lp.Function, out: lp.Output) -> bool:
        return any(isinstance(s, lp.Alloc) and s.buffer is out.buffer for s in lp.walk(loops.body))

    def compiled(self, kernel: Kernel) -> tuple[int, int, lp.Function]:
        if kernel not in self.kernels:
            loops = printed_loops(kernel.opaque, make_loops(kernel.opaque))
            for c in loops.consts:
                c.name = f"{kernel.name}_{c.name}"
            emitter = LoopEmitter(loops, JIT, kernel.name)
            emitter.mark_with(self.marks)
            self.texts.append(emitter.kernel())
            base, prints = len(self.sites), len(self.prints)
            self.sites += emitter.sites
            self.kinds += emitter.kinds
            self.prints += emitter.prints
            self.kernels[kernel] = (base, prints if emitter.prints else -1, loops)
        return self.kernels[kernel]


def _leaf_counts(kernel: Kernel) -> list[int]:
    return [len(leaf_types(t)) for _, t in kernel.fn.params]


def _poly(p: Poly, names: dict[Atom, str]) -> str:
    def atom(a: Atom) -> str:
        if isinstance(a, Quot):
            return f"at_fdiv({_poly(a.num, names)}, {_poly(a.den, names)})"
        return names[a]

    if not p.terms:
        return "0"
    parts = []
    for mono, coef in p.terms.items():
        factors = [ops.literal(coef, I64)] if coef != 1 or not mono else []
        parts.append(" * ".join([*factors, *(atom(a) for a in mono)]))
    return " + ".join(parts)


def _fits(x: str, source: str, target: str) -> str:
    dtype = DTYPES[target]
    low, high = dtype.limits()
    f = "f" if source == "f32" else ""
    if high < 2**53:
        return f"(trunc{f}({x}) >= {low}.0 && trunc{f}({x}) <= {high}.0)"
    return f"({x} >= {float(low)!r} && {x} < {float(high + 1)!r})" if low else f"(trunc{f}({x}) >= 0.0 && {x} < {float(high + 1)!r})"


# -- arrays


def _position(a: str, index: list[str]) -> str:
    text = index[0]
    for k, i in enumerate(index[1:], 1):
        text = f"({text}) * {a}->dims[{k}] + {i}"
    return text


def _get(results: list[str], args: list[str], rest: list[Any]) -> list[str]:
    elem, rank = rest
    at = _position(args[0], args[1 : rank + 1])
    if elem == ir.DATA:
        return [f"{results[0]} = at_value_at({args[0]}, {at});"]
    return [f"{results[0]} = ((const {DTYPES[elem].c_name} *){args[0]}->data)[{at}];"]


def _set(results: list[str], args: list[str], rest: list[Any]) -> list[str]:
    elem, rank = rest
    at, x = _position(args[0], args[1 : rank + 1]), args[rank + 1]
    if elem == ir.DATA:
        return [f"{results[0]} = at_set_value(H, {args[0]}, {at}, {x});"]
    return [f"{results[0]} = at_own(H, {args[0]}); (({DTYPES[elem].c_name} *){results[0]}->data)[{_position(results[0], args[1 : rank + 1])}] = {x};"]


def _new(results: list[str], args: list[str], rest: list[Any]) -> list[str]:
    elem, rank = rest
    item, kind = (DTYPES[elem].size, 0) if elem in DTYPES else (8, 1)
    return [f"{results[0]} = at_zeros(H, {item}, {kind}, {rank}, (int64_t[]){{{', '.join(args)}}});"]


_ARRAYS: dict[str, Any] = {
    "get": _get,
    "set": _set,
    "new": _new,
    "row": lambda r, a, _: [f"{r[0]} = at_row(H, {a[0]}, {a[1]});"],
    "set_row": lambda r, a, _: [f"{r[0]} = at_set_row(H, {a[0]}, {a[1]}, {a[2]});"],
    "slice": lambda r, a, _: [f"{r[0]} = at_slice(H, {a[0]}, {a[1]}, {a[2]});"],
    "dim": lambda r, a, rest: [f"{r[0]} = {a[0]}->dims[{rest[0]}];"],
    "in_range": lambda r, a, _: [f"{r[0]} = (uint64_t){a[0]} < (uint64_t)({a[1]} < 0 ? 0 : {a[1]});"],
}
