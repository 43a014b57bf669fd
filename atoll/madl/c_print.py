"""Printing the loops of an operator as C99, in the shape the thesis prints.

    constant sizes    nested arrays: m[i][j]            parameters int32_t m[5][7]
    other sizes       flat, row-major: m[i * n + j]     parameters int32_t *m
    scalars           by pointer, also results: *s
    copies            memcpy exactly where source and target are one piece

Expressions and plain statements are printed by the C back end (atoll/backends/c/emit.py). Integers are printed with C's own operators, so
signed overflow must be made to wrap by the C compiler (-fwrapv) or not happen; `wrap=True` prints calls of functions that wrap on any compiler.
"""

from __future__ import annotations

import re
from typing import Any

from atoll.backends.c import ops
from atoll.backends.c.emit import Dialect, Emitter, safe
from atoll.loops import ir as lp
from atoll.madl.c_names import OWN
from atoll.madl.lower import Argument, CopyPiece, Invoke, Lowered
from atoll.sizes import Poly, poly

PLAIN = Dialect("madl", wrapping=True, gnu=False, hosted=False)
WRAPPING = Dialect("madl", wrapping=False, gnu=False, hosted=False)

_ASSIGN = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}

HELPERS = {
    "madl_div": "static inline {t} madl_div_{n}({t} a, {t} b) {{ return b == 0 ? 0 : {minus}({t})(a / b); }}",
    "madl_mod": "static inline {t} madl_mod_{n}({t} a, {t} b) {{ return b == 0{minus_one} ? 0 : ({t})(a % b); }}",
    "madl_shift_left": "static inline {t} madl_shift_left_{n}({t} a, {t} k) {{ return {below}k >= {bits} ? 0 : ({t})(({u})a << k); }}",
    "madl_shift_right": (
        "static inline {t} madl_shift_right_{n}({t} a, {t} k) {{\n"
        "    return {below}k >= {bits} ? {sign_bits}0 : {negative}({t})(a >> k);\n}}"
    ),
    "madl_sqrt": (
        "static inline {t} madl_sqrt_{n}({t} a) {{\n    uint64_t x = a > 0 ? (uint64_t)a : 0, r = 0, bit = (uint64_t)1 << 62;\n"
        "    while (bit > x) bit >>= 2;\n    for (; bit; bit >>= 2) {{\n        if (x >= r + bit) {{ x -= r + bit; r = (r >> 1) + bit; }}\n"
        "        else r >>= 1;\n    }}\n    return ({t})r;\n}}"
    ),
}
INDEX_HELPERS = {
    "madl_clamp": "static inline int32_t madl_clamp(int64_t k, int64_t n) { return (int32_t)(k < 0 || n <= 0 ? 0 : k < n ? k : n - 1); }",
    "madl_wrap": "static inline int32_t madl_wrap(int64_t k, int64_t n) { return (int32_t)(n <= 0 ? 0 : k % n < 0 ? k % n + n : k % n); }",
}


def helper(op: str, dtype: Any) -> tuple[str, str]:
    """The name and text of a support function."""
    if op in INDEX_HELPERS:
        return op, INDEX_HELPERS[op]
    signed = dtype.kind == "i"
    u = f"uint{max(32, dtype.bits)}_t"
    minus = f"b == -1 ? ({dtype.c_name})(0 - ({u})a) : " if signed else ""
    shifts = {"below": "k < 0 ? 0 : " if signed else "", "bits": dtype.bits, "u": u}
    shifts |= {"sign_bits": "a < 0 ? -1 : " if signed else "", "negative": f"a < 0 ? ({dtype.c_name})~(~a >> k) : " if signed else ""}
    text = HELPERS[op].format(t=dtype.c_name, n=dtype.name, minus=minus, minus_one=" || b == -1" if signed else "", **shifts)
    return f"{op}_{dtype.name}", text


def is_fixed(buffer: lp.Buffer) -> bool:
    """All its sizes are numbers."""
    return all(n.const() is not None for n in buffer.extents)


def dimensions(buffer: lp.Buffer) -> str:
    """`[5][7]`; nothing at all is one cell."""
    return "".join(f"[{n.const()}]" for n in buffer.extents) if is_nested(buffer) else "[1]"


def is_nested(buffer: lp.Buffer) -> bool:
    """Printed as an array of arrays: all its sizes are numbers, and none is 0, which C has no arrays of."""
    return is_fixed(buffer) and all(n.const() != 0 for n in buffer.extents)


class Printer(Emitter):
    """One function."""

    def __init__(self, fn: Lowered, names: dict[Any, str], dialect: Dialect = PLAIN, index: str = "int64_t") -> None:
        body: list[Any] = fn.body
        super().__init__(lp.Function(fn.name, fn.sizes, list(fn.params), [], body, []), dialect, fn.name)
        self.lowered, self.function_names, self.index_type = fn, names, index
        self.helpers: dict[str, str] = {}
        self.params_set = set(fn.params)
        self.names.reserved |= {safe(b.name) for b in _buffers(body)} | set(names.values()) | OWN

    # -- declarations

    def size_params(self) -> list[str]:
        return [f"{self.index_type} {self.names[s]}" for s in self.fn.sizes]

    def parameter(self, b: lp.Buffer, keyword: str = "restrict") -> str:
        """A parameter as it is declared. Chunks do not overlap, which `restrict` tells the C compiler."""
        name, t, written = safe(b.name), b.dtype.c_name, b in self.lowered.written
        keyword = keyword + " " if keyword and len(self.lowered.params) > 1 else ""
        if is_nested(b) and len(b.extents) > 0:
            first, *rest = [str(max(1, n.const() or 0)) for n in b.extents]
            const = "const " if not written and not rest else ""  # C does not convert int[5][7] to const int[5][7]
            return f"{const}{t} {name}[{keyword}{first}]" + "".join(f"[{n}]" for n in rest)
        return f"{'' if written else 'const '}{t} *{keyword}{name}"

    def enter_sizes(self) -> None:
        for sym in self.fn.sizes:
            if sym not in self.names.active:
                self.names.enter(sym)

    def parameters(self, buffers: list[lp.Buffer], keyword: str = "restrict") -> list[str]:
        self.enter_sizes()
        return [*self.size_params(), *(self.parameter(b, keyword) for b in buffers)]

    def signature(self, keyword: str = "restrict") -> str:
        """`void dot(int64_t n, int32_t *s, ...)`"""
        return f"void {self.lowered.name}({', '.join(self.parameters(self.lowered.params, keyword)) or 'void'})"

    def function(self) -> str:
        """The whole function."""
        head = self.signature()
        self.depth = 1
        self.stmts(self.fn.body)
        text = "\n".join(self.lines)
        words = set(_words(text))
        given = [self.names[s] for s in self.fn.sizes] + [safe(b.name) for b in self.lowered.params]
        quiet = [f"    (void){g};" for g in given if g not in words]
        return "\n".join([f"{head} {{", *quiet, *self.lines, "}"])

    # -- memory

    def element(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        name = safe(buffer.name)
        if not buffer.extents:
            return f"*{name}" if buffer in self.params_set else name
        if is_nested(buffer):
            return name + "".join(f"[{self.poly(i)}]" for i in index)
        flat = poly(0)
        for i, n in zip(index, buffer.extents, strict=True):
            flat = flat * n + i
        return f"{name}[{self.poly(flat)}]"

    def address(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        if not buffer.extents:
            return safe(buffer.name) if buffer in self.params_set else f"&{safe(buffer.name)}"
        if len(buffer.extents) == 1 and not index[0].terms:
            return safe(buffer.name)
        return f"&{self.element(buffer, index)}"

    def alloc(self, buffer: lp.Buffer) -> None:
        sizes = "".join(f"[{max(1, n.const() or 0)}]" for n in buffer.extents)
        self.put(f"{buffer.dtype.c_name} {safe(buffer.name)}{sizes};")
        if not _is_read(self.fn.body, buffer):
            self.put(f"(void){safe(buffer.name)};")

    # -- statements

    def stmt(self, stmt: Any) -> None:
        match stmt:
            case CopyPiece(target, at, source, there, size):
                t = target.dtype.c_name
                number = size.const()
                amount = f"sizeof({t}[{number}])" if number is not None else f"(size_t)({self.poly(size)}) * sizeof({t})"
                if number != 0:
                    self.put(f"memcpy({self.address(target, at)}, {self.address(source, there)}, {amount});")
            case Invoke(function, sizes, args):
                given = [self.poly(p) for p in sizes] + [self.argument(a) for a in args]
                self.put(f"{self.function_names[function]}({', '.join(given)});")
            case lp.Store(buffer, index, value):
                self.put(f"{self.element(buffer, index)} = {_bare(self.expr(value))};")
            case lp.If(tests, then, orelse) if not then:
                with self.braces(f"if (!({_bare(self.tests(tests))}))"):
                    self.stmts(orelse)
            case lp.If(tests, then, orelse):
                with self.braces(f"if ({_bare(self.tests(tests))})"):
                    self.stmts(then)
                if orelse:
                    with self.braces("else"):
                        self.stmts(orelse)
            case _:
                super().stmt(stmt)

    def argument(self, a: Argument) -> str:
        if a.by_value:
            return self.element(a.buffer, a.index)
        address = self.address(a.buffer, a.index)
        formal = a.formal
        if formal is not None and is_nested(formal) and len(formal.extents) > 1:
            inner = "".join(f"[{n}]" for n in formal.extents[1:])
            return f"({a.buffer.dtype.c_name} (*){inner}){address}"
        if len(a.buffer.extents) > 1 and address == safe(a.buffer.name):
            return f"&{self.element(a.buffer, a.index)}"
        return address

    def update(self, target: str, op: str, value: str, dtype: Any) -> None:
        plain = dtype.is_float or dtype.kind == "u" or self.dialect.wrapping
        if op in _ASSIGN and plain:
            self.put(f"{target} {_ASSIGN[op]} {_bare(value)};")
        else:
            self.put(f"{target} = {_bare(ops.call(op, [target, value], dtype, dtype, self.dialect.wrapping))};")

    def loop(self, loop: lp.For) -> None:
        low, high = self.poly(loop.low), self.poly(loop.high)
        name = self.names.enter(loop.sym)
        with self.braces(f"for ({self.index_type} {name} = {low}; {name} < {high}; {name}++)"):
            self.stmts(loop.body)
        self.names.leave(loop.sym)

    # -- expressions

    def expr(self, e: lp.Expr) -> str:
        if isinstance(e, lp.Call) and e.op.startswith("madl_"):
            name, text = helper(e.op, e.dtype)
            self.helpers[name] = text
            return f"{name}({', '.join(_bare(self.expr(a)) for a in e.args)})"
        return super().expr(e)


def _bare(text: str) -> str:
    """Without parentheses around the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1]


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)


def _buffers(body: list[Any]) -> list[lp.Buffer]:
    return [s.buffer for s in lp.walk(body) if isinstance(s, lp.Alloc)]


def _is_read(body: list[Any], buffer: lp.Buffer) -> bool:
    """Whether anything reads a local buffer; C compilers complain when nothing does."""
    for stmt in lp.walk(body):
        match stmt:
            case CopyPiece(source=source, count=size):
                if source is buffer and size.terms:
                    return True
            case Invoke(args=args):
                if any(a.buffer is buffer for a in args):
                    return True
            case lp.Store(value=value) | lp.Update(value=value) | lp.Let(value=value):
                if _mentions(value, buffer):
                    return True
            case lp.If(tests=tests):
                if any(t.expr is not None and _mentions(t.expr, buffer) for t in tests):
                    return True
    return False


def _mentions(e: Any, buffer: lp.Buffer) -> bool:
    match e:
        case lp.Load(other, _):
            return other is buffer
        case lp.Call(args=args):
            return any(_mentions(a, buffer) for a in args)
        case lp.Cast(arg=arg):
            return _mentions(arg, buffer)
    return False

