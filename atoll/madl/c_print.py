"""Printing the loops of an operator as C99, in the shape the thesis prints.

    constant sizes    nested arrays: m[i][j]            parameters int32_t m[5][7]
    other sizes       flat, by strides: m[i * n + j]    parameters int32_t *m
    scalars           by value where they are only read, else by pointer: *s
    copies            memcpy exactly where source and target are one piece

Expressions and plain statements are printed by the C back end (atoll/backends/c/emit.py). Integers wrap on any compiler: signed ones by functions that
compute without sign. `wrap=False` prints C's own operators, for -fwrapv. Only what is written is `restrict`: reading one memory twice is no overlap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from atoll.backends.c import ops
from atoll.backends.c.emit import Dialect, Emitter, safe
from atoll.loops import ir as lp
from atoll.madl.c_names import OWN
from atoll.madl.lowered import Argument, CopyPiece, Invoke, Lowered
from atoll.madl.share import share
from atoll.sizes import Poly
from atoll.types.dtypes import BOOL

PLAIN = Dialect("madl", wrapping=True, gnu=False, hosted=False)
WRAPPING = Dialect("madl", wrapping=False, gnu=False, hosted=False)

_ASSIGN = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}

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

    def __init__(self, fn: Lowered, names: dict[Any, str], dialect: Dialect = PLAIN, index: str = "int64_t", keyword: str = "") -> None:
        body: list[Any] = fn.body
        super().__init__(lp.Function(fn.name, fn.sizes, list(fn.params), [], body, []), dialect, fn.name)
        self.lowered, self.function_names, self.index_type, self.keyword = fn, names, index, keyword
        self.pointers = set(fn.params) - fn.values  # scalars among them are *x
        self.sharing = share(body)
        self.aliases: dict[lp.Buffer, str] = {}  # what is not a variable of the function: self->x
        self.names.reserved |= {safe(b.name) for b in _buffers(body)} | set(names.values()) | OWN

    # -- declarations

    def size_params(self) -> list[str]:
        return [f"{self.index_type} {self.names[s]}" for s in self.fn.sizes]

    def parameter(self, b: lp.Buffer, keyword: str = "") -> str:
        """A parameter as it is declared. Chunks do not overlap, which `restrict` (the keyword) tells the C compiler."""
        name, t, written = safe(b.name), b.dtype.c_name, b in self.lowered.written
        if b in self.lowered.values:
            return f"{t} {name}"
        keyword = keyword + " " if keyword and written and len([x for x in self.lowered.params if x not in self.lowered.values]) > 1 else ""
        if is_nested(b) and len(b.extents) > 0:
            first, *rest = [str(max(1, n.const() or 0)) for n in b.extents]
            const = "const " if not written and not rest else ""  # C does not convert int[5][7] to const int[5][7]
            return f"{const}{t} {name}[{keyword}{first}]" + "".join(f"[{n}]" for n in rest)
        return f"{'' if written else 'const '}{t} *{keyword}{name}"

    def enter_sizes(self) -> None:
        for sym in self.fn.sizes:
            if sym not in self.names.active:
                self.names.enter(sym)

    def parameters(self, buffers: list[lp.Buffer], keyword: str = "") -> list[str]:
        self.enter_sizes()
        return [*self.size_params(), *(self.parameter(b, keyword) for b in buffers)]

    def signature(self) -> str:
        """`void dot(int64_t n, int32_t *s, ...)`"""
        return f"void {self.lowered.name}({', '.join(self.parameters(self.lowered.params, self.keyword)) or 'void'})"

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
        name = self.called(buffer)
        if not buffer.extents:
            return f"*{name}" if buffer in self.pointers else name
        if is_nested(buffer):
            return name + "".join(f"[{self.poly(i)}]" for i in index)
        return f"{name}[{self.flat(buffer, index)}]"

    def flat(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        """Position by strides: ((i * n1 + j) * n2 + k), as much of it as is not 0."""
        first = next((k for k, i in enumerate(index) if i.terms), len(index) - 1)
        text = self.poly(index[first])
        for i, n in zip(index[first + 1 :], buffer.extents[first + 1 :], strict=True):
            text = self.factor(n) if text == "1" else f"{text if ' ' not in text else f'({text})'} * {self.factor(n)}"
            text += f" + {self.poly(i)}" if i.terms else ""
        return text

    def called(self, buffer: lp.Buffer) -> str:
        """The name of a memory in this function."""
        return self.aliases.get(buffer) or safe(self.sharing.home.get(buffer, buffer).name)

    def address(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        if not buffer.extents:
            return self.called(buffer) if buffer in self.pointers else f"&{self.called(buffer)}"
        if (len(buffer.extents) == 1 or not is_nested(buffer)) and not any(i.terms for i in index):
            return self.called(buffer)
        return f"&{self.element(buffer, index)}"

    def alloc(self, buffer: lp.Buffer) -> None:
        if buffer in self.sharing.home:
            return
        lengths = [max(1, n.const() or 0) for n in buffer.extents]
        guests = [safe(b.name) for b, home in self.sharing.home.items() if home is buffer]
        if guests:
            lengths[0] = self.sharing.rows[buffer]
        sizes = "".join(f"[{n}]" for n in lengths)
        self.put(f"{buffer.dtype.c_name} {safe(buffer.name)}{sizes};{f' /* later {c_list(guests)} */' if guests else ''}")
        if not guests and not _is_read(self.fn.body, buffer):
            self.put(f"(void){safe(buffer.name)};")

    # -- statements

    def stmt(self, stmt: Any) -> None:
        match stmt:
            case CopyPiece(target, at, source, there, size):
                t = target.dtype.c_name
                number = size.const()
                amount = f"sizeof({t}[{number}])" if number is not None else f"(size_t)({self.poly(size)}) * sizeof({t})"
                if number != 0:
                    self.put(f"(void)memcpy({self.address(target, at)}, {self.address(source, there)}, {amount});")
            case Invoke(function, sizes, args):
                given = [self.poly(p) for p in sizes] + [_bare(self.argument(a)) for a in args]
                self.put(f"{self.function_names[function]}({', '.join(given)});")
            case lp.Store(buffer, index, value):
                self.put(f"{self.element(buffer, index)} = {_bare(self.expr(value))};")
            case lp.Note(text) if text.startswith("#line"):
                self.lines.append(text)
            case lp.Let(var, lp.Cast(value, _)):  # an index value
                self.put(f"const {self.index_type} {safe(var.name)} = ({self.index_type}){self.expr(value)};")
            case lp.If(tests, then, orelse) if not then:
                with self.braces(f"if (!({_bare(self.tests(tests))}))"):
                    self.stmts(orelse)
            case lp.If(tests, then, orelse):
                with self.braces(f"if ({_bare(self.tests(tests))})"):
                    self.stmts(then)
                while len(orelse) == 1 and isinstance(orelse[0], lp.If) and orelse[0].then:  # else if
                    inner = orelse[0]
                    with self.braces(f"else if ({_bare(self.tests(inner.tests))})"):
                        self.stmts(inner.then)
                    orelse = inner.orelse
                    if not orelse:
                        orelse = [lp.Note("nothing")]
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
        if formal is None or not formal.extents or not is_nested(formal):
            return address
        rank, mine = len(formal.extents), a.buffer.extents
        tail = a.index[len(a.index) - rank :]
        if is_nested(a.buffer) and mine[len(mine) - rank + 1 :] == formal.extents[1:] and len(mine) >= rank:
            outer = self.called(a.buffer) + "".join(f"[{self.poly(i)}]" for i in a.index[: len(mine) - rank])
            if not any(i.terms for i in tail):
                return outer  # an array of the right shape as it is
            if not any(i.terms for i in tail[1:]):
                return f"&{outer}[{self.poly(tail[0])}]"
        if rank == 1:
            return address
        inner = "".join(f"[{n}]" for n in formal.extents[1:])
        return f"({a.buffer.dtype.c_name} (*){inner}){address}"

    def update(self, target: str, op: str, value: str, dtype: Any) -> None:
        plain = dtype.is_float or (dtype.bits >= 32 and (dtype.kind == "u" or self.dialect.wrapping))
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
        if isinstance(e, lp.Const) and e.dtype.kind == "u" and e.dtype.bits <= 32:
            return f"{int(e.value)}U"
        if isinstance(e, lp.Call) and e.op == "select" and e.dtype.is_integer and e.dtype.bits < 32 and all(isinstance(a, lp.Const) for a in e.args[1:]):
            return f"({e.dtype.c_name}){super().expr(e)}"  # gcc takes `c ? 0U : 1U` for a wider number
        if isinstance(e, lp.Cast) and e.dtype is BOOL:
            return f"({self.expr(e.arg)} != {self.expr(lp.Const(0, e.arg.dtype))})"
        if isinstance(e, lp.Call) and e.op.startswith("madl_"):
            name = e.op if e.op in ("madl_clamp", "madl_wrap") else f"{e.op}_{e.dtype.name}"
            return f"{name}({', '.join(_bare(self.expr(a)) for a in e.args)})"
        return super().expr(e)


def c_list(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


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


def _is_read(body: Sequence[Any], buffer: lp.Buffer) -> bool:
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

