"""Printing loops as C: one function for the program, one for the body of each piecewise loop.

Bodies of piecewise loops are functions of their own with `restrict` parameters, because that is what lets the C compiler see that nothing
aliases (notes/c_shapes.md 0b). Sums are kept in lanes of a fixed number, so their order is part of the text and not of the compiler's
mood. Every failure goes to the label `done`, where memory is given back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from atoll.ainf.ir import Site
from atoll.backends.c import ops
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.types.dtypes import BOOL, I64, DType

_KEYWORDS = frozenset(
    ["auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false", "complex", "I", "main", "exp", "log", "sin", "cos", "tan", "pow", "sqrt", "floor", "ceil", "abs", "div", "time", "y0", "y1", "yn", "j0", "j1", "jn", "gamma", "index", "remove", "rename", "signal", "hypot", "erf", "erfc", "fma", "fmin", "fmax", "round", "rint", "trunc", "status", "done", "NAN", "INFINITY", "NULL", "free", "malloc", "printf", "memcpy", "memset", "memmove", "memcmp", "qsort", "asm", "typeof", "unix", "linux", "i386", "at", "errno", "stdin", "stdout", "stderr", "assert", "imaginary"]
)
_RELATION = {"ge": ">=", "eq": "==", "ne": "!="}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the C may assume."""

    name: str
    wrapping: bool  # the compiler wraps signed integers (-fwrapv)
    gnu: bool  # GNU attributes and pragmas
    hosted: bool  # called through the runtime: threads, messages with values, the host's memory


JIT = Dialect("jit", wrapping=True, gnu=True, hosted=True)
C99 = Dialect("c99", wrapping=False, gnu=False, hosted=False)

_STRETCH = 65536  # rounds of a tight loop, and
_ROUNDS = 64  # rounds with loops inside, between two looks at whether the user wants to stop


class Names:
    """C names for sizes and loop indices; variables and buffers already have unique ones."""

    def __init__(self, reserved: set[str]) -> None:
        self.reserved = reserved
        self.active: dict[Atom, str] = {}

    def enter(self, sym: Sym) -> str:
        base = safe(sym.name)
        name, count = base, 1
        used = set(self.active.values())
        while name in used or name in self.reserved:
            name, count = f"{base}_{count}", count + 1
        self.active[sym] = name
        return name

    def leave(self, sym: Sym) -> None:
        del self.active[sym]

    def __getitem__(self, sym: Atom) -> str:
        return self.active[sym]


def safe(name: str) -> str:
    """A user's name that is not C's."""
    clean = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    if not clean or clean[0].isdigit():
        clean = f"v{clean}"
    taken = clean.rstrip("_") in _KEYWORDS or clean.startswith(("at_", "atoll_", "__"))
    macro = len(clean) > 1 and clean.isupper()  # INT64_MAX, M_PI
    reserved = clean[0] == "_" and clean[1:2].isupper()
    return f"{clean}_" if taken or macro else f"v{clean}" if reserved else clean


@dataclass
class Used:
    """What a piece of code mentions but does not make."""

    syms: dict[Sym, None]
    vars: dict[lp.Var, None]
    buffers: dict[lp.Buffer, None]


class Emitter:
    def __init__(self, fn: lp.Function, dialect: Dialect, prefix: str) -> None:
        self.fn, self.dialect, self.prefix = fn, dialect, prefix
        self.lines: list[str] = []
        self.depth = 0
        self.functions: list[str] = []
        self.sites: list[Site] = []
        self.kinds: list[str] = []
        names = {safe(p.name) for p in (*fn.inputs, *(o.buffer for o in fn.outputs), *fn.consts)}
        for stmt in lp.walk(fn.body):
            for attribute in ("var", "buffer", "result"):
                found = getattr(stmt, attribute, None)
                if isinstance(found, (lp.Var, lp.Buffer)):
                    names.add(safe(found.name))
            names |= {safe(a.var.name) for a in getattr(stmt, "accs", ())}
        self.names = Names(names)
        self.swapped: set[lp.Buffer] = set()
        for stmt in lp.walk(fn.body):
            if isinstance(stmt, lp.Swap):
                self.swapped |= {stmt.first, stmt.second}
        self.open_outputs = {o.buffer: k for k, o in enumerate(fn.outputs)}
        self.pieces = 0
        self.nesting = 0  # loops around, in this function
        self.held: dict[lp.Buffer, int] = {}  # what this function allocated, by its place in at_held
        self.uses_done = False
        self.prints: list[lp.Print] = []
        self.offsets: dict[lp.Buffer, Poly] | None = None  # where buffers lie in the caller's workspace
        self.adders: dict[lp.Var, Any] = {}

    @property
    def no_memory(self) -> str:
        return "at_no_memory(at)" if self.dialect.hosted else "-1"

    # -- text

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if text else "")

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    @contextmanager
    def function_text(self) -> Iterator[None]:
        """Collect a function of its own."""
        saved = (self.lines, self.depth, self.uses_done, self.nesting, self.held)
        self.lines, self.depth, self.uses_done, self.nesting = [], 0, False, 0
        yield
        self.functions.append("\n".join(self.lines))
        self.lines, self.depth, self.uses_done, self.nesting, self.held = saved

    # -- indices

    def poly(self, p: Poly) -> str:
        """A polynomial as a C expression (not parenthesised)."""
        if not p.terms:
            return "0"
        terms: list[tuple[int, str]] = []
        for mono, coef in sorted(p.terms.items(), key=lambda t: (not t[0], -len(t[0]), [self.atom(a) for a in t[0]])):
            terms.append((coef, " * ".join(self.atom(a) for a in mono)))
        terms.sort(key=lambda t: t[0] < 0)
        text = ""
        for coef, body in terms:
            size = abs(coef)
            shown = ops.literal(size, I64) if not body else body if size == 1 else f"{ops.literal(size, I64)} * {body}"
            text += f" - {shown}" if coef < 0 and text else f"-{shown}" if coef < 0 else f" + {shown}" if text else shown
        return text

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, lp.VarAtom):
            return safe(atom.var.name)
        if isinstance(atom, Quot):
            return f"at_fdiv({self.poly(atom.num)}, {self.poly(atom.den)})"
        return self.names[atom]

    def factor(self, p: Poly) -> str:
        text = self.poly(p)
        return text if len(p.terms) == 1 and " " not in text else f"({text})"

    def element(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        return f"{safe(buffer.name)}[{self.flat(buffer, index)}]"

    def flat(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        """Row-major position."""
        if not index:
            return "0"
        text = self.poly(index[0]) if buffer.rows is None else f"({self.poly(index[0])}) % {buffer.rows}"
        for p, n in zip(index[1:], buffer.extents[1:], strict=True):
            if text == "0":
                text = self.poly(p)
                continue
            first = text if " " not in text else f"({text})"
            text = f"{first} * {self.factor(n)}"
            if p.terms:
                text += f" + {self.poly(p)}"
        return text

    # -- expressions

    def expr(self, e: lp.Expr) -> str:
        match e:
            case lp.Use(var):
                return safe(var.name)
            case lp.Const(value, dtype):
                return ops.literal(value, dtype)
            case lp.Index(p):
                return f"({self.poly(p)})" if len(p.terms) > 1 or (p.const() is None and " " in self.poly(p)) else self.poly(p)
            case lp.Load(buffer, index):
                return self.element(buffer, index)
            case lp.Call(op, args, dtype):
                arg = args[1 if op == "select" else 0].dtype
                return ops.call(op, [self.expr(a) for a in args], arg, dtype, self.dialect.wrapping)
            case lp.Cast(arg, dtype):
                return ops.cast(self.expr(arg), arg.dtype, dtype)
            case lp.Choose(tests, then, orelse):
                return f"({self.tests(tests)} ? {self.expr(then)} : {self.expr(orelse)})"
            case lp.Truth(tests):
                return f"({self.tests(tests)})"
        raise AssertionError(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> str:
        return " && ".join(self.test(t) for t in tests) if tests else "1"

    def test(self, t: lp.Test) -> str:
        if t.poly is not None:
            relation, p = _RELATION[t.kind], t.poly
            if t.kind == "ge" and p.constant_term() == -1:  # n - k - 1 >= 0 is n > k, where nothing can overflow
                relation, p = ">", p + 1
            left = Poly({m: c for m, c in p.terms.items() if c > 0})
            right = Poly({m: -c for m, c in p.terms.items() if c < 0})
            return f"{self.poly(left)} {relation} {self.poly(right)}"
        assert t.expr is not None
        text = self.expr(t.expr)
        return text if t.kind == "true" else f"!{text}"

    # -- statements

    def stmts(self, stmts: list[lp.Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def declare(self, var: lp.Var, value: str, const: bool) -> None:
        qualifier = "const " if const else ""
        self.put(f"{qualifier}{var.dtype.c_name} {safe(var.name)} = {value};")

    def stmt(self, stmt: lp.Stmt) -> None:
        match stmt:
            case lp.Let(var, value):
                self.declare(var, self.expr(value), True)
            case lp.Declare(var, value):
                self.declare(var, ops.literal(0, var.dtype) if value is None else self.expr(value), False)
            case lp.Assign(var, value):
                self.put(f"{safe(var.name)} = {self.expr(value)};")
            case lp.Store(buffer, index, value):
                self.put(f"{self.element(buffer, index)} = {self.expr(value)};")
            case lp.Update(buffer, index, op, value):
                self.update(self.element(buffer, index), op, self.expr(value), buffer.dtype)
            case lp.Add(var, monoid, value):
                self.add(stmt.var, monoid, self.expr(value))
                del var
            case lp.Alloc(buffer):
                self.alloc(buffer)
            case lp.Free(buffer):
                self.free(buffer)
            case lp.For():
                self.loop(stmt)
            case lp.Accumulate():
                self.accumulate(stmt)
            case lp.Chunks():
                self.chunks(stmt)
            case lp.If(tests, then, orelse):
                with self.braces(f"if ({self.tests(tests)})"):
                    self.stmts(then)
                if orelse:
                    with self.braces("else"):
                        self.stmts(orelse)
            case lp.Forever(body):
                self.forever(body)
            case lp.BreakUnless(tests):
                self.put(f"if (!({self.tests(tests)})) break;")
            case lp.Check():
                self.check(stmt)
            case lp.Helper():
                self.helper(stmt)
            case lp.CopyBuffer(target, source):
                count = self.count(target)
                if source.kind == "in" and target.kind == "out":  # the caller may have given the array away
                    self.put(f"if ((const void *){safe(target.name)} != (const void *){safe(source.name)})")
                self.put(f"memcpy({safe(target.name)}, {safe(source.name)}, (size_t)({count}) * sizeof(*{safe(target.name)}));")
            case lp.Swap(first, second):
                t = first.dtype.c_name
                a, b = safe(first.name), safe(second.name)
                self.put(f"{{ {t} *at_other = {a}; {a} = {b}; {b} = at_other; }}")
                if first in self.held and second in self.held:
                    a, b = (f"at_held[{self.held[x]}]" for x in (first, second))
                    self.put(f"{{ void *at_other = {a}; {a} = {b}; {b} = at_other; }}")
            case lp.Print():
                self.print(stmt)
            case lp.Section(label, body):
                self.put(f"/* {label.replace('*/', '* /')} */")
                self.stmts(body)
            case lp.Product():
                self.product(stmt)
            case lp.Note(text):
                self.put(f"/* {text} */")

    def product(self, p: lp.Product) -> None:
        """A contraction by the runtime's matrix kernel; its own loops when there is no runtime or it is tiny."""
        if not self.dialect.hosted:
            self.stmts(p.body)
            return
        work = " * ".join(self.factor(x) for x in (p.rows, p.columns, *p.sums))
        with self.braces(f"if ({work} < 4096)"):
            self.stmts(p.body)
        with self.braces("else"):
            lists = [", ".join(map(self.poly, each)) for each in (p.sums, p.left_sums, p.right_sums)]
            given = [self.poly(x) for x in (p.rows, p.columns)] + [f"{{{text}}}" for text in lists]
            given += [self.poly(x) for x in (p.left_row, p.right_column, p.target_row)]
            given += [f"&{self.element(x.buffer, x.index)}" for x in (p.left, p.right, p.target)]
            self.put(f"const at_product at_p = {{{', '.join(given)}, {len(p.sums)}}};")
            self.uses_done = True
            double = int(p.target.dtype.name == "f64")
            self.put(f"if ((status = at_rt->product(at, &at_p, {double})) != 0) goto done;")

    def update(self, target: str, op: str, value: str, dtype: DType) -> None:
        simple = {"add": "+=", "mul": "*="}.get(op)
        if simple and (dtype.is_float or dtype.kind == "u" or (dtype.is_integer and self.dialect.wrapping)):
            self.put(f"{target} {simple} {value};")
        else:
            self.put(f"{target} = {ops.call(op, [target, value], dtype, dtype, self.dialect.wrapping)};")

    def add(self, var: lp.Var, monoid: str, value: str) -> None:
        how = self.adders.get(var)
        if how is not None:
            self.put(how(value))
        else:
            self.update(safe(var.name), MONOIDS[monoid][0], value, var.dtype)

    # -- memory

    def count(self, buffer: lp.Buffer) -> str:
        total = poly(1)
        for n in buffer.extents if buffer.rows is None else (poly(buffer.rows), *buffer.extents[1:]):
            total = total * n
        return self.poly(total)

    def guard_count(self, buffer: lp.Buffer) -> None:
        """A count that would wrap around is too much memory: the same polynomial in doubles tells."""
        total = poly(1)
        for n in buffer.extents:
            total = total * n
        if total.single() is None and total.leaves():
            self.fail_unless(f"{self.in_doubles(total)} < 70368744177664.0", self.no_memory)

    def in_doubles(self, p: Poly) -> str:
        def atom(a: Atom) -> str:
            if isinstance(a, Quot):
                return f"floor(({self.in_doubles(a.num)}) / ({self.in_doubles(a.den)}))"
            return f"(double){self.atom(a)}"

        return " + ".join(" * ".join([f"{coef}.0", *map(atom, mono)]) for mono, coef in p.terms.items()) or "0.0"

    def alloc(self, buffer: lp.Buffer) -> None:
        name, t = safe(buffer.name), buffer.dtype.c_name
        if buffer.local:
            aligned = " __attribute__((aligned(64)))" if self.dialect.gnu else ""
            self.put(f"{t} {name}[{self.count(buffer)}]{aligned};")
            return
        if self.offsets is None:
            self.guard_count(buffer)
        if buffer.kind == "out":
            dims = ", ".join(self.poly(p) for p in buffer.extents)
            self.put(f"{name} = at_open_result(at, {self.open_outputs[buffer]}, {len(buffer.extents)}, (int64_t[]){{{dims}}});")
        elif self.offsets is not None:
            offset = self.poly(self.offsets[buffer])
            self.put(f"{name} = ({t} *)(void *)((char *)workspace + {offset});")
            return
        else:
            self.put(f"{name} = at_held[{self.held[buffer]}] = at_alloc({self.count(buffer)}, sizeof({t}));")
        self.fail_unless(f"{name} != NULL", self.no_memory)

    def free(self, buffer: lp.Buffer) -> None:
        if self.offsets is not None or buffer.local:
            return
        slot = f"at_held[{self.held[buffer]}]"
        self.put(f"at_free({slot});")
        self.put(f"{slot} = NULL;")

    def fail_unless(self, test: str, failure: str) -> None:
        self.uses_done = True
        self.put(f"if (!({test})) {{ status = {failure}; goto done; }}")

    def check(self, check: lp.Check) -> None:
        number = len(self.sites)
        self.sites.append(check.site)
        self.kinds.append("".join("d" if a.dtype.is_float else "i" for a in check.args))
        self.uses_done = True
        if not self.dialect.hosted:
            self.put(f"if (!({self.tests(check.tests)})) {{ status = {number + 1}; goto done; }}")
            return
        with self.braces(f"if (!({self.tests(check.tests)}))"):
            for k, arg in enumerate(check.args):
                text = self.expr(arg)
                if arg.dtype.is_float:
                    self.put(f"at->args[{k}].d = (double){text};")
                else:
                    self.put(f"at->args[{k}].i = (int64_t){text};")
            self.put(f"status = at_fail(at, {number});")
            self.put("goto done;")

    # -- loops

    def is_tight(self, body: list[lp.Stmt]) -> bool:
        """A round takes little time: loops inside it are short and of literal length (a tile of sums in registers stays there)."""
        work = 1
        for stmt in lp.walk(body):
            if isinstance(stmt, (lp.For, lp.Accumulate)):
                length = (stmt.high - stmt.low).const()
                work *= max(1, length) if length is not None else _STRETCH
            elif isinstance(stmt, (lp.Chunks, lp.Forever)):
                return False
        return work < _STRETCH or self.is_innermost(body)

    def is_innermost(self, stmts: list[lp.Stmt]) -> bool:
        return not any(isinstance(s, (lp.For, lp.Accumulate, lp.Chunks, lp.Forever)) for s in lp.walk(stmts))

    def loop(self, loop: lp.For) -> None:
        if loop.vector and self.dialect.gnu:
            self.put(f"#pragma omp simd simdlen({loop.vector})")
        elif loop.unroll and self.dialect.gnu and (rounds := (loop.high - loop.low).const()):
            self.put(f"#pragma GCC unroll {rounds}")
        elif loop.parallel and self.dialect.gnu and self.is_innermost(loop.body) and not _may_fail(loop.body):
            self.put("AT_INDEPENDENT")
        if loop.vector or loop.unroll or (loop.parallel and (self.nesting > 0 or self.is_innermost(loop.body))):
            self.rounds(loop)
        else:
            self.sequential(loop)

    def rounds(self, loop: lp.For | lp.Accumulate, low: str | None = None, high: str | None = None, tick: str = "") -> None:
        """The loop itself; `tick` is said first in every round."""
        low, high = low or self.poly(loop.low), high or self.poly(loop.high)
        name = self.names.enter(loop.sym)
        self.nesting += 1
        with self.braces(f"for (int64_t {name} = {low}; {name} < {high}; {name}++)"):
            if tick:
                self.put(tick)
            self.stmts(loop.body)
        self.nesting -= 1
        self.names.leave(loop.sym)

    # -- loops that may take long: Python's signals are looked at now and then

    def sequential(self, loop: lp.For | lp.Accumulate) -> None:
        """Rounds with loops inside count down; a tight loop is cut into stretches, so that it stays tight."""
        length = (loop.high - loop.low).const()
        if not self.dialect.hosted or (length is not None and length <= _STRETCH):
            self.rounds(loop)
        elif not self.is_tight(loop.body):
            self.uses_done = True
            with self.braces(""):
                self.put(f"int at_fuel = {_ROUNDS};")
                self.rounds(loop, tick=f"AT_TICK({_ROUNDS})")
        elif self.nesting == 0:
            self.uses_done = True
            with self.braces(f"for (int64_t at_i = {self.poly(loop.low)}, at_end, at_high = {self.poly(loop.high)}; at_i < at_high; at_i = at_end)"):
                self.put("at_end = at_high;")
                with self.braces(f"if (at_high - at_i > {_STRETCH})"):
                    self.put(f"at_end = at_i + {_STRETCH};")
                    self.put("if (at_interrupted(at)) { status = -2; goto done; }")
                self.rounds(loop, "at_i", "at_end")
        else:
            self.rounds(loop)

    def forever(self, body: list[lp.Stmt]) -> None:
        if not self.dialect.hosted:
            with self.braces("for (;;)"):
                self.stmts(body)
            return
        rounds = _STRETCH if self.is_innermost(body) else _ROUNDS
        self.uses_done = True
        self.nesting += 1
        with self.braces(""):
            self.put(f"int at_fuel = {rounds};")
            with self.braces("for (;;)"):
                self.put(f"AT_TICK({rounds})")
                self.stmts(body)
        self.nesting -= 1

    def accumulate(self, loop: lp.Accumulate) -> None:
        """Known operators into scalars. Floats in lanes when the loop is innermost, as a tree of partial sums otherwise."""
        floats = [a for a in loop.accs if a.var.dtype.is_float or a.var.dtype.is_complex]
        for acc in loop.accs:
            self.declare(acc.var, self.neutral(acc), False)
        if loop.exact or not floats:
            self.sequential(loop)
        elif self.dialect.gnu and self.is_innermost(loop.body) and not _may_fail(loop.body) and not any(a.var.dtype.is_complex for a in floats):
            self.lanes(loop)
        else:
            self.tree(loop)

    def neutral(self, acc: lp.Acc) -> str:
        value = MONOIDS[acc.monoid][1](acc.var.dtype)
        return ops.literal(value, acc.var.dtype)

    def lanes(self, loop: lp.Accumulate) -> None:
        """Blocks of a fixed number of lanes, each lane adding up its own elements; the rest one by one.

        A block of lanes is added up in a tree after a fixed number of rounds, so that errors do not grow with the length.
        """
        width = max(a.var.dtype.size for a in loop.accs)
        lanes = 128 // width
        low, high = self.poly(loop.low), self.poly(loop.high)
        outer = Sym(f"{loop.sym.name}0")
        first = self.names.enter(outer)
        index = self.names.enter(loop.sym)
        saved = dict(self.adders)
        sums = _float_sums(loop)
        with self.braces(""):
            self.put(f"int64_t {first} = {low};")
            for acc in loop.accs:
                v = safe(acc.var.name)
                if acc in sums:
                    self.put(f"at_sum_{acc.var.dtype.name} {v}_sum;")
                    self.put(f"{v}_sum.low = 0, {v}_sum.count = 0, {v}_sum.top = 0;")
            ticks = self.dialect.hosted and self.nesting == 0
            if ticks:
                self.uses_done = True
                self.put(f"int at_fuel = {_ROUNDS};")
            with self.braces(f"while ({first} + {lanes} <= {high})"):
                if ticks:
                    self.put(f"AT_TICK({_ROUNDS})")
                self.put(f"const int64_t at_end = {first} + {lanes * 64} < {high} ? {first} + {lanes * 64} : {high};")
                for acc in loop.accs:
                    v, t = safe(acc.var.name), acc.var.dtype.c_name
                    self.put(f"{t} {v}_lane[{lanes}];")
                    self.put(f"for (int at_l = 0; at_l < {lanes}; at_l++) {v}_lane[at_l] = {self.neutral(acc)};")
                with self.braces(f"for (; {first} + {lanes} <= at_end; {first} += {lanes})"):
                    self.put("AT_SIMD")
                    with self.braces(f"for (int at_l = 0; at_l < {lanes}; at_l++)"):
                        self.put(f"const int64_t {index} = {first} + at_l;")
                        for acc in loop.accs:
                            self.adders[acc.var] = self._lane_adder(acc)
                        self.stmts(loop.body)
                for acc in loop.accs:
                    v = safe(acc.var.name)
                    half = lanes // 2
                    while half > 0:  # each step a loop of its own, so that lanes stay in registers
                        combined = self._combine(acc, f"{v}_lane[at_l]", f"{v}_lane[at_l + {half}]")
                        self.put(f"for (int at_l = 0; at_l < {half}; at_l++) {v}_lane[at_l] = {combined};")
                        half //= 2
                    if acc in sums:
                        self.put(f"at_sum_add_{acc.var.dtype.name}(&{v}_sum, {v}_lane[0]);")
                    else:
                        self.put(f"{v} = {self._combine(acc, v, f'{v}_lane[0]')};")
            for acc in sums:
                v = safe(acc.var.name)
                self.put(f"{v} = at_sum_total_{acc.var.dtype.name}(&{v}_sum);")
            with self.braces(f"for (; {first} < {high}; {first}++)"):
                self.put(f"const int64_t {index} = {first};")
                for acc in loop.accs:
                    self.adders.pop(acc.var, None)
                self.stmts(loop.body)
        self.adders = saved
        self.names.leave(loop.sym)
        self.names.leave(outer)

    def _combine(self, acc: lp.Acc, a: str, b: str) -> str:
        return ops.call(MONOIDS[acc.monoid][0], [a, b], acc.var.dtype, acc.var.dtype, self.dialect.wrapping)

    def _lane_adder(self, acc: lp.Acc) -> Any:
        v = f"{safe(acc.var.name)}_lane[at_l]"
        return lambda value: f"{v} = {self._combine(acc, v, value)};"

    def tree(self, loop: lp.Accumulate) -> None:
        """A loop with loops inside: sums of floats as a tree of partial sums."""
        saved = dict(self.adders)
        sums = _float_sums(loop)
        for acc in sums:
            v, d = safe(acc.var.name), acc.var.dtype.name
            self.put(f"at_sum_{d} {v}_sum;")
            self.put(f"{v}_sum.low = 0, {v}_sum.count = 0, {v}_sum.top = 0;")
            self.adders[acc.var] = lambda value, v=v, d=d: f"at_sum_add_{d}(&{v}_sum, {value});"
        self.sequential(loop)
        for acc in sums:
            v = safe(acc.var.name)
            self.put(f"{v} = at_sum_total_{acc.var.dtype.name}(&{v}_sum);")
        self.adders = saved

    # -- pieces

    def chunks(self, chunk: lp.Chunks) -> None:
        """A loop in pieces: a function for one piece, called for each, perhaps by several threads."""
        if not self.dialect.hosted:
            self.one_piece(chunk)
            return
        used = collect(chunk.body, {chunk.low, chunk.high})
        accs = {a.var for a in chunk.accs}
        used.vars = {v: None for v in used.vars if v not in accs}
        number = self.pieces
        self.pieces += 1
        name = f"{self.prefix}_piece{number}"
        fails = self.piece_function(name, chunk, used)
        self.call_pieces(name, number, chunk, used, fails)

    def one_piece(self, chunk: lp.Chunks) -> None:
        """Without a runtime there is one piece: everything."""
        low, high = self.names.enter(chunk.low), self.names.enter(chunk.high)
        self.names.active[chunk.low] = "0"
        extent = self.poly(chunk.extent)
        if extent.isidentifier():
            self.names.active[chunk.high] = extent
            self.stmts(chunk.body)
        else:
            with self.braces(""):
                self.put(f"const int64_t {high} = {extent};")
                self.stmts(chunk.body)
        del low
        self.names.leave(chunk.low)
        self.names.leave(chunk.high)

    def params(self, used: Used, body: list[lp.Stmt]) -> list[tuple[str, str, str]]:
        """(type, name, argument) for everything a piece needs."""
        written = _written(body)
        found: list[tuple[str, str, str]] = []
        for sym in used.syms:
            found.append(("int64_t", self.names[sym], self.names[sym]))
        for var in used.vars:
            found.append((var.dtype.c_name, safe(var.name), safe(var.name)))
        for buffer in used.buffers:
            if buffer.kind == "const":
                continue
            const = "" if buffer in written else "const "
            found.append((f"{const}{buffer.dtype.c_name} *restrict", safe(buffer.name), safe(buffer.name)))
        return found

    def piece_function(self, name: str, chunk: lp.Chunks, used: Used) -> bool:
        params = self.params(used, chunk.body)
        saved = dict(self.adders)
        with self.function_text():
            low, high = self.names.enter(chunk.low), self.names.enter(chunk.high)
            given = ["at_call *at", f"int64_t {low}", f"int64_t {high}"]
            given += [f"{t} {n}" for t, n, _ in params]
            given += [f"{a.var.dtype.c_name} *{safe(a.var.name)}_out" for a in chunk.accs]
            start = len(self.lines)
            with self.braces(f"AT_PIECE int {name}({', '.join(given)})"):
                self.locals(chunk.body)
                for acc in chunk.accs:
                    v = safe(acc.var.name)
                    self.declare(acc.var, self.neutral(acc), False)
                    self.adders[acc.var] = lambda value, v=v, acc=acc: f"{v} = {self._combine(acc, v, value)};"
                self.stmts(chunk.body)
                for acc in chunk.accs:
                    self.put(f"*{safe(acc.var.name)}_out = {safe(acc.var.name)};")
                self.finish(chunk.body)
            fails = self.uses_done
            if not fails:
                self.lines.insert(start + 1, "    (void)at;")
            self.names.leave(chunk.low)
            self.names.leave(chunk.high)
        self.adders = saved
        return fails

    def locals(self, body: list[lp.Stmt]) -> None:
        """Pointers of the buffers a function allocates. What it must give back is held in one array, which compilers handle well."""
        self.status_line = len(self.lines)
        own = _allocated(body, self.dialect.hosted)
        for buffer in own:
            self.put(f"{buffer.dtype.c_name} *{safe(buffer.name)} = NULL;")
        self.held = {b: k for k, b in enumerate(b for b in own if b.kind != "out" and self.offsets is None)}
        if self.held:
            self.put(f"void *at_held[{len(self.held)}] = {{NULL}};")

    def finish(self, body: list[lp.Stmt]) -> None:
        """The end of a function: give memory back, return the status."""
        if not self.uses_done:
            self.put("return 0;")
            return
        self.lines.insert(self.status_line, "    " * self.depth + "int status = 0;")
        self.lines.append("    " * (self.depth - 1) + "done:")
        if self.held:
            self.put(f"at_free_all(at_held, {len(self.held)});")
        self.put("return status;")

    def call_pieces(self, name: str, number: int, chunk: lp.Chunks, used: Used, fails: bool) -> None:
        params = self.params(used, chunk.body)
        extent = self.poly(chunk.extent)
        work = self.poly(chunk.work) if chunk.work.terms else "1"
        n, size = f"at_n{number}", f"at_size{number}"
        partial = [f"{safe(a.var.name)}_part" for a in chunk.accs]
        private = any(isinstance(s, lp.Alloc) and s.buffer.private for s in lp.walk(chunk.body))
        with self.braces(""):
            self.put(f"const int64_t {n} = {extent};")
            self.put(f"const int64_t {size} = at_piece({n}, {work}, {chunk.grain}, {chunk.align}, {chunk.most});")
            self.parallel_call(name, chunk, params, partial, n, size, f"({work})", private)

    def parallel_call(
        self,
        name: str,
        chunk: lp.Chunks,
        params: list[tuple[str, str, str]],
        partial: list[str],
        n: str,
        size: str,
        work: str,
        private: bool,
    ) -> None:
        """Through the runtime's pool: a task unpacks its arguments and runs one piece."""
        struct = f"{name}_args"
        fields = "".join(f" {t.replace(' *restrict', ' *')} {v};" for t, v, _ in params)
        fields += "".join(f" {a.var.dtype.c_name} *{p};" for a, p in zip(chunk.accs, partial, strict=True))
        unpack = ", ".join(["at", "at_low", "at_high", *(f"at_a->{v}" for _, v, _ in params), *(f"at_a->{p} + at_piece_number" for p in partial)])
        self.functions.append(
            f"typedef struct {{ int64_t at_extent, at_size;{fields} }} {struct};\n"
            f"static int {name}_task(at_call *at, void *at_context, int64_t at_piece_number) {{\n"
            f"    const {struct} *at_a = at_context;\n"
            f"    const int64_t at_low = at_piece_number * at_a->at_size;\n"
            f"    const int64_t at_high = at_low + at_a->at_size < at_a->at_extent ? at_low + at_a->at_size : at_a->at_extent;\n"
            f"    return {name}({unpack});\n}}"
        )
        args = ", ".join(a for _, _, a in params)
        tail = f", {args}" if args else ""
        outs = "".join(f", &{safe(a.var.name)}" for a in chunk.accs)
        whole = "" if chunk.accs or private else f" || {n} * {work} < 65536"
        self.uses_done = True
        with self.braces(f"if ({n} <= {size}{whole})"):
            self.put(f"if ({n} > 0 && (status = {name}(at, 0, {n}{tail}{outs})) != 0) goto done;")
        with self.braces("else"):
            self.put(f"const int64_t at_pieces = ({n} + {size} - 1) / {size};")
            for acc, p in zip(chunk.accs, partial, strict=True):
                t = acc.var.dtype.c_name
                self.put(f"{t} {p}[{chunk.most}];")
            given = "".join(f", {a}" for _, _, a in params) + "".join(f", {p}" for p in partial)
            self.put(f"{struct} at_context = {{{n}, {size}{given}}};")
            serial = f"{n} * {work} < 65536" if (chunk.accs or private) else "0"
            self.put(f"status = at_rt->parallel(at, {name}_task, &at_context, at_pieces, {serial});")
            self.put("if (status != 0) goto done;")
            for acc, p in zip(chunk.accs, partial, strict=True):
                v = safe(acc.var.name)
                self.put("for (int64_t at_w = 1; at_w < at_pieces; at_w *= 2)")
                combined = self._combine(acc, f"{p}[at_k]", f"{p}[at_k + at_w]")
                self.put(f"    for (int64_t at_k = 0; at_k + at_w < at_pieces; at_k += 2 * at_w) {p}[at_k] = {combined};")
                self.put(f"{v} = {p}[0];")

    # -- the rest

    def helper(self, h: lp.Helper) -> None:
        if h.name == "argsort":
            (keys, first), (out, at) = h.buffers
            assert h.dtype is not None
            a, b = self.element(keys, first), self.element(out, at)
            self.fail_unless(f"at_argsort_{h.dtype.name}(&{a}, &{b}, {self.poly(h.sizes[0])}) == 0", self.no_memory)
        elif h.name == "settle":
            (out, _), (spare, _) = h.buffers
            o, s = safe(out.name), safe(spare.name)
            with self.braces(f"if ({o} != at_{o} && {s} == at_{o})"):  # else a loop around this one has it, and settles
                self.put(f"memcpy(at_{o}, {o}, (size_t)({self.count(out)}) * sizeof(*{o}));")
                self.put(f"{{ {out.dtype.c_name} *at_other = {o}; {o} = {s}; {s} = at_other; }}")
        else:
            raise AssertionError(h.name)

    def print(self, stmt: lp.Print) -> None:
        """Values go to the host, which formats them."""
        number = len(self.prints)
        self.prints.append(stmt)
        if not self.dialect.hosted:
            self.plain_print(stmt)
            return
        with self.braces(""):
            items: list[str] = []
            for part in stmt.parts:
                if isinstance(part, str):
                    continue
                for shown in part[1]:
                    items.append(self.printed(shown))
            self.put(f"const at_shown at_items[] = {{{', '.join(items) if items else '{0, 0, 0, {0}, {0}}'}}};")
            self.put(f"at_print(at, {number}, {len(items)}, at_items);")

    def plain_print(self, stmt: lp.Print) -> None:
        """printf, for scalars; arrays one element after the other."""
        for part in stmt.parts:
            if isinstance(part, str):
                text = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
                self.put(f'printf("{text}");')
                continue
            for shown in part[1]:
                if isinstance(shown, lp.Buffer):
                    name = safe(shown.name)
                    self.put('printf("[");')
                    self.put(f"for (int64_t at_k = 0; at_k < {self.count(shown)}; at_k++) {self._printf(f'{name}[at_k]', shown.dtype, ' ')}")
                    self.put('printf("]");')
                else:
                    self.put(self._printf(self.expr(shown), shown.dtype, ""))
        self.put('printf("\\n");')

    def _printf(self, text: str, dtype: DType, after: str) -> str:
        if dtype.is_complex:
            return f'printf("%g%+gj{after}", (double)creal({text}), (double)cimag({text}));'
        if dtype.is_float:
            return f'printf("%g{after}", (double)({text}));'
        if dtype.name == "u64":
            return f'printf("%llu{after}", (unsigned long long)({text}));'
        return f'printf("%lld{after}", (long long)({text}));'

    def printed(self, shown: Any) -> str:
        if isinstance(shown, lp.Buffer):
            dims = ", ".join(self.poly(p) for p in shown.extents)
            return f"{{{safe(shown.name)}, {len(shown.extents)}, 0, {{{dims}}}, {{0}}}}"
        field = ".d" if shown.dtype.is_float else ".i"
        cast = "(double)" if shown.dtype.is_float else "(int64_t)"
        if shown.dtype.is_complex:
            f = "f" if shown.dtype.name == "c64" else ""
            text = self.expr(shown)
            return f"{{NULL, 0, 2, {{0}}, {{{{.d = creal{f}({text})}}, {{.d = cimag{f}({text})}}}}}}"
        return f"{{NULL, 0, 1, {{0}}, {{{{{field} = {cast}{self.expr(shown)}}}}}}}"

    def const_arrays(self) -> list[str]:
        found = []
        for c in self.fn.consts:
            values = ", ".join(ops.literal(v.item(), c.dtype) for v in c.value.reshape(-1)) or "0"
            if c.dtype.is_complex:
                values = values.replace("at_complex_c128", "").replace("at_complex_c64", "")
                flat = ", ".join(f"{ops.literal(v.real, c.dtype.part())}, {ops.literal(v.imag, c.dtype.part())}" for v in c.value.reshape(-1))
                part = c.dtype.part().c_name
                found.append(f"static const {part} {safe(c.name)}_parts[] = {{{flat or '0'}}};")
                found.append(f"#define {safe(c.name)} ((const {c.dtype.c_name} *){safe(c.name)}_parts)")
                continue
            found.append(f"static const {c.dtype.c_name} {safe(c.name)}[] = {{{values}}};")
        return found

    def kernel(self) -> str:
        """The program's own function and everything before it."""
        for sym in self.fn.sizes:
            self.names.enter(sym)
        with self.function_text():
            params = ["at_call *at"] if self.dialect.hosted else []
            params += [f"int64_t {self.names[s]}" for s in self.fn.sizes]
            for p in self.fn.inputs:
                t = p.dtype.c_name
                params.append(f"{t} {safe(p.name)}" if isinstance(p, lp.Var) else f"const {t} *restrict {safe(p.name)}")
            for o in self.fn.outputs:
                t = o.buffer.dtype.c_name
                if self.is_open(o.buffer):
                    continue
                star = "*" if o.buffer in self.swapped else "*restrict"
                params.append(f"{t} {star} {safe(o.buffer.name)}".replace("* ", "*"))
            if self.offsets:
                params.append("void *workspace")
            start = len(self.lines)
            with self.braces(f"static int {self.prefix}_run({', '.join(params) or 'void'})"):
                self.locals(self.fn.body)
                for o in self.fn.outputs:
                    if o.buffer in self.swapped:
                        self.put(f"{o.buffer.dtype.c_name} *const at_{safe(o.buffer.name)} = {safe(o.buffer.name)};")
                self.stmts(self.fn.body)
                self.finish(self.fn.body)
            text = "\n".join(self.lines[start + 1 :])
            given = [self.names[s] for s in self.fn.sizes] + [safe(p.name) for p in self.fn.inputs]
            given += ["at"] if self.dialect.hosted else []
            quiet = [f"(void){g};" for g in given if not re.search(rf"\b{g}\b", text)]
            if quiet:
                self.lines.insert(start + 1, "    " + " ".join(quiet))
        return "\n\n".join([*self.const_arrays(), *self.functions])

    def is_open(self, buffer: lp.Buffer) -> bool:
        return any(isinstance(s, lp.Alloc) and s.buffer is buffer for s in lp.walk(self.fn.body))


def _float_sums(loop: lp.Accumulate) -> list[lp.Acc]:
    """Sums whose rounding depends on the order."""
    return [a for a in loop.accs if a.monoid == "add" and not a.var.dtype.is_integer and a.var.dtype is not BOOL]


def _may_fail(stmts: list[lp.Stmt]) -> bool:
    return any(isinstance(s, (lp.Check, lp.Alloc, lp.Print)) for s in lp.walk(stmts))


def _allocated(stmts: list[lp.Stmt], pieces_apart: bool) -> list[lp.Buffer]:
    """Buffers a function allocates itself, not those of pieces that are functions of their own."""
    found: dict[lp.Buffer, None] = {}

    def go(body: list[lp.Stmt]) -> None:
        for stmt in body:
            if isinstance(stmt, lp.Alloc) and not stmt.buffer.local:
                found[stmt.buffer] = None
            if not (pieces_apart and isinstance(stmt, lp.Chunks)):
                for inner in lp.bodies(stmt):
                    go(inner)

    go(stmts)
    return list(found)


def _written(stmts: list[lp.Stmt]) -> set[lp.Buffer]:
    found: set[lp.Buffer] = set()
    for stmt in lp.walk(stmts):
        if isinstance(stmt, (lp.Store, lp.Update)):
            found.add(stmt.buffer)
        elif isinstance(stmt, lp.CopyBuffer):
            found.add(stmt.target)
        elif isinstance(stmt, lp.Swap):
            found |= {stmt.first, stmt.second}
        elif isinstance(stmt, lp.Helper):
            found |= {b for b, _ in stmt.buffers}
    return found


def collect(stmts: list[lp.Stmt], own: set[Sym]) -> Used:
    """Names a piece of code uses from outside."""
    used = Used({}, {}, {})
    made_vars: set[lp.Var] = set()
    made_buffers: set[lp.Buffer] = set()
    made_syms: set[Sym] = set(own)
    whole: set[lp.Buffer] = set()
    for stmt in lp.walk(stmts):
        if isinstance(stmt, lp.CopyBuffer):
            whole |= {stmt.target, stmt.source}
        elif isinstance(stmt, (lp.Let, lp.Declare)):
            made_vars.add(stmt.var)
        elif isinstance(stmt, lp.Alloc):
            made_buffers.add(stmt.buffer)
        elif isinstance(stmt, (lp.For, lp.Accumulate)):
            made_syms.add(stmt.sym)
        elif isinstance(stmt, lp.Chunks):
            made_syms |= {stmt.low, stmt.high}
        for acc in getattr(stmt, "accs", ()):
            if isinstance(stmt, lp.Accumulate):
                made_vars.add(acc.var)

    def atoms(p: Poly) -> None:
        for leaf in sorted(p.leaves(), key=lambda a: a.uid):
            if isinstance(leaf, lp.VarAtom):
                if leaf.var not in made_vars:
                    used.vars[leaf.var] = None
            elif isinstance(leaf, Sym) and leaf not in made_syms:
                used.syms[leaf] = None

    def buffer(b: lp.Buffer) -> None:
        for p in b.extents if b in made_buffers or b in whole else b.extents[1:]:
            atoms(p)
        if b not in made_buffers:
            used.buffers[b] = None

    def visit(x: Any) -> None:
        if isinstance(x, Poly):
            atoms(x)
        elif isinstance(x, lp.Var):
            if x not in made_vars:
                used.vars[x] = None
        elif isinstance(x, lp.Buffer):
            buffer(x)
        elif isinstance(x, (tuple, list)):
            for item in x:
                visit(item)
        elif isinstance(x, (lp.Use, lp.Const, lp.Index, lp.Load, lp.Call, lp.Cast, lp.Choose, lp.Truth, lp.Test, lp.Acc)) or isinstance(
            x, lp.Stmt.__args__  # type: ignore[attr-defined]
        ):
            for name in x.__dataclass_fields__:
                if name not in ("site", "span", "dtype", "sym", "low", "high") or isinstance(getattr(x, name), Poly):
                    visit(getattr(x, name))

    visit(stmts)
    return used
