"""The C99 files of a module: a header, a source, an example caller. No library, no heap.

    stateless operator    void dot(int64_t n, const int32_t *u, const int32_t *v, int32_t *s);
    with state            typedef struct { int32_t a; int32_t b; } fib_state;
                          void fib_init(fib_state *self);  void fib_reset(fib_state *self);  void fib_step(fib_state *self, int32_t *n);
    sized state           the struct keeps pointers and the sizes; init takes both, and says whether the sizes will do; step says whether they are the same
    static=True           one instance in the file: void fib_step(int32_t *n);
    macros                DOT_STACK_BYTES, DOT_NEEDS(n), FIB_STATE_BYTES, REV_WORK_BYTES(n)

Signatures are c_interface.py's. Only what is asked for is visible to the linker, with the prefix that is asked for.

Stack bytes count the memory of the program itself along the deepest chain of calls; what the C compiler adds for registers and return addresses is
its own affair (`atoll report` measures it).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.backends.c import ops
from atoll.backends.c.emit import safe
from atoll.backends.c.prelude import right_with_gcc
from atoll.backends.c.quoted import c_comment
from atoll.backends.c.written import write_files
from atoll.errors import NOWHERE, fail
from atoll.loops import ir as lp
from atoll.madl.c_example import example
from atoll.madl.c_interface import Public, public, state_buffers
from atoll.madl.c_names import MATH
from atoll.madl.c_print import PLAIN, WRAPPING, Printer, dimensions, is_fixed
from atoll.madl.compiled import Compiled
from atoll.madl.deep import deep
from atoll.madl.imports import kernel
from atoll.madl.lower import LoweredFile
from atoll.madl.lowered import CopyPiece, FunctionName, Invoke, Lowered, LoweredOperator
from atoll.madl.needs import needed_sizes, needs
from atoll.madl.pieces import leaves_of
from atoll.madl.reach import reach
from atoll.madl.represented import Enum
from atoll.madl.share import share
from atoll.madl.support import support
from atoll.madl.tables import table_text
from atoll.sizes import Poly, poly
from atoll.types.types import Type

INDEX_BITS = {"int64_t": 64, "int32_t": 32, "int16_t": 16, "int": 32}
"""The types that sizes and counters may have. All are signed: loops count to `n - 1 - i`."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may ask of the C."""

    static: bool = False  # state in the file, one instance of each node
    wrap: bool = True  # integers wrap on any compiler
    index: str = "int64_t"  # the type of sizes and counters
    prefix: str = ""  # of every visible name
    origins: str = "none"  # which lines of the source the C comes from: none, comments or lines (#line)
    restrict: bool = False  # tell the C compiler that memories do not overlap; MISRA C 8.14 forbids the word
    visible: bool = False  # for our own loader: all functions are external, with names that are no library's


class CFile:
    """The C of some operators and everything they call."""

    def __init__(
        self,
        name: str,
        operators: Sequence[Compiled | tuple[Compiled, tuple[Type, ...]]],
        options: Options | None = None,
        source: str = "",
    ) -> None:
        self.name, self.options, self.source_name = safe(name), options or Options(), source
        self.lowered = LoweredFile("madl__" if self.options.visible else "", self.options.origins)
        self.lowered.prefix = self.lowered.prefix or self.options.prefix
        self._stacks: dict[int, int] = {}
        with deep(NOWHERE):
            self.exported = [self.lowered.operator(*(c if isinstance(c, tuple) else (c, ()))) for c in operators]
        self.externals: dict[Any, _External] = {}
        self.names: dict[FunctionName, str] = {}
        for op in list(self.lowered.operators.values()):
            for fn in (op.cycle, op.reset):
                for call in fn.calls if fn is not None else []:
                    self._name(call)
        self.public: dict[LoweredOperator, Public] = {}
        self.inner: dict[LoweredOperator, str] = {}
        for op in self.exported:
            self.public[op] = public(op)
            self.inner[op] = op.cycle.name
            if not self.options.visible and not self.public[op].direct:
                self.names[FunctionName(op.compiled.scheme, op.types, "cycle")] = op.cycle.name = f"{op.cycle.name}_cycle"
        self._variables_apart()
        self.printers = {id(fn): self._printer(fn) for op in self.lowered.operators.values() for fn in (op.cycle, op.reset) if fn}
        self.functions = {key: p.function() for key, p in self.printers.items()}
        self.wrappers = {} if self.options.visible else {op: self._public_printer(op) for op in self.exported}

    def _variables_apart(self) -> None:
        """No variable has the name of a function that the linker sees."""
        names = {name for op in self.exported for name in (self.inner[op], *(f"{self.inner[op]}_{p}" for p in ("init", "reset", "step", "copy", "get")))}
        for op in self.lowered.operators.values():
            taken = {safe(b.name) for b in op.buffers.values()}
            made = self.public[op].params if op in self.public else []
            for b in [*op.buffers.values(), *made]:
                while safe(b.name) in names:
                    b.name = f"the_{b.name}" if f"the_{safe(b.name)}" not in taken else f"{b.name}_"

    def _name(self, call: FunctionName) -> None:
        if call in self.names:
            return
        if call.scheme.external is not None:
            if call.scheme not in self.externals:
                self.externals[call.scheme] = _External(call.scheme, self.lowered.fresh(call.scheme.name))
            self.names[call] = f"{self.externals[call.scheme].name}_run"
            return
        assert call.scheme.compiled is not None
        op = self.lowered.operator(call.scheme.compiled, call.types)
        fn = op.cycle if call.part == "cycle" else op.reset
        assert fn is not None
        self.names[call] = fn.name

    def _printer(self, fn: Lowered) -> Printer:
        keyword = "restrict" if self.options.restrict or self.options.visible else ""
        return Printer(fn, self.names, WRAPPING if self.options.wrap else PLAIN, self.options.index, keyword)

    def _restrict(self, word: str) -> str:
        return word if self.options.restrict else ""

    def printer(self, fn: Lowered) -> Printer:
        return self.printers[id(fn)]

    def write(self, folder: object, overwrite: bool = False) -> list[Path]:
        """The three files."""
        texts = {f"{self.name}.h": self.header(), f"{self.name}.c": self.source(), f"{self.name}_example.c": example(self)}
        if self.options.origins == "comments":
            texts[f"{self.name}_map.json"] = origin_map(f"{self.name}.c", texts[f"{self.name}.c"])
        return write_files(folder, texts, overwrite)

    # -- the source

    def source(self) -> str:
        order = [fn for op in self.lowered.operators.values() for fn in (op.reset, op.cycle) if fn]
        internal = [] if self.options.visible else [fn for fn in order if not self._is_public(fn)]
        texts = [("static " if fn in internal else "") + self.functions[id(fn)] for fn in order]
        wrappers = [text for op in self.exported for text in self._public_text(op)] if not self.options.visible else []
        tables = list(dict.fromkeys(table_text(b, array, safe(b.name), ops.literal) for op in self.lowered.operators.values() for b, array in op.tables.items()))
        kernels = [e.kernel for e in self.externals.values()]
        body = "\n".join([*tables, *texts, *wrappers, *kernels])
        helpers = support("\n".join([*texts, *wrappers]), "\n".join(kernels))
        includes = ["<string.h>"] if "memcpy(" in body else []
        includes += ["<math.h>"] if MATH & set(re.findall(r"\b[A-Za-z_]\w*\b", body + "".join(helpers))) else []
        parts = [f"/* Generated by Atoll{f' from {c_comment(self.source_name)}' if self.source_name else ''}. See {self.name}.h. */"]
        parts += [f'#include "{self.name}.h"\n' + "".join(f"\n#include {i}" for i in includes)]
        parts += [*([right_with_gcc()] if "for (" in body else []), *helpers, *kernels]
        parts += ["\n".join(tables)] if tables else []
        parts += ["\n".join(f"static {self.printers[id(fn)].signature()};" for fn in internal)] if internal else []
        return "\n\n".join([*parts, *texts, *wrappers]) + "\n"

    def _is_public(self, fn: Lowered) -> bool:
        return any(op.cycle is fn and self.public[op].direct for op in self.exported)

    # -- public functions

    def state(self, op: LoweredOperator) -> list[lp.Buffer]:
        return state_buffers(op)

    def open_state(self, op: LoweredOperator) -> list[lp.Buffer]:
        return [b for b in self.state(op) if not is_fixed(b)]

    def checked_sizes(self, op: LoweredOperator) -> list[Any]:
        """The sizes that the state has: every step must be given the same."""
        used = {leaf for b in self.open_state(op) for n in b.extents for leaf in n.leaves()}
        return [sym for sym in op.cycle.sizes if sym in used]

    def stored_sizes(self, op: LoweredOperator) -> list[Any]:
        """The sizes that the state keeps: those it has, and those its first value needs."""
        if op.reset is None:
            return []
        printer, text = self.printer(op.reset), self.functions[id(op.reset)]
        used = [new for new in op.reset.sizes if f"(void){printer.names[new]};" not in text]
        return [sym for sym in op.cycle.sizes if sym in used or sym in self.checked_sizes(op)]

    def _public_printer(self, op: LoweredOperator) -> Printer:
        """Prints the function around the one that computes; what is state is reached through self."""
        base, made = self.inner[op], self.public[op]
        printer = self._printer(op.cycle if made.direct else made.function(f"{base}_step" if op.reset is not None else base))
        if op.reset is not None:
            me = f"{base}_self." if self.options.static else "self->"
            printer.aliases = {b: f"{me}{safe(b.name)}" for b in self.state(op)}
        printer.enter_sizes()
        return printer

    def heads(self, op: LoweredOperator, keyword: str) -> dict[str, str]:
        """The declarations of an operator's public functions: run, or init, reset and step."""
        base, printer = self.inner[op], self.wrappers[op]
        run = printer.parameters(printer.lowered.params, keyword)
        if op.reset is None:
            return {"run": f"void {base}({', '.join(run) or 'void'})"}
        own = [] if self.options.static else [f"{base}_state *self"]
        state = set(self.state(op))
        work = [self.printer(op.reset).parameter(b, keyword) for b in op.reset.params if b not in state]
        stored = [f"{self.options.index} {printer.names[s]}" for s in self.stored_sizes(op)]
        memory = [f"{b.dtype.c_name} *{safe(b.name)}" for b in self.open_state(op)]
        result = "bool" if self.checked_sizes(op) else "void"
        heads = {} if self.options.static else {"init": (result, [*own, *stored, *memory, *work])}
        heads["reset"] = ("void", [*stored, *work] if self.options.static else [*own, *work])
        heads["step"] = (result, [*own, *run])
        if self.checked_sizes(op):  # a struct without pointers is assigned
            heads["copy"] = ("bool", [f"{base}_state *to", f"const {base}_state *from"])
        return {part: f"{gives} {base}_{part}({', '.join(params) or 'void'})" for part, (gives, params) in heads.items()}

    def _public_text(self, op: LoweredOperator) -> list[str]:
        base, printer, heads = self.inner[op], self.wrappers[op], self.heads(op, self._restrict("restrict"))
        if self.public[op].direct:
            return []
        checked = self.checked_sizes(op)
        me = f"{base}_self." if self.options.static else "self->"
        printer.depth = 2 if checked else 1
        printer.lines = []
        printer.stmts(printer.fn.body)
        words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(printer.lines)))
        given = [printer.names[s] for s in op.cycle.sizes if s not in checked] + [safe(b.name) for b in printer.lowered.params]
        quiet = [f"    (void){g};" for g in given if g not in words]
        if op.reset is None:
            return ["\n".join([f"{heads['run']} {{", *quiet, *printer.lines, "}"])]
        if not self.options.static and "self" not in words and not checked:
            quiet.append("    (void)self;")
        if self.options.static and self.open_state(op):
            fail("E0965", op.compiled.operator.span, name=op.compiled.name, text="its state has a size that is not a number, so it cannot be static", help="leave static=True (--static) away, or call it from an operator that gives its sizes as numbers")
        texts = [f"static {base}_state {base}_self;"] if self.options.static else []
        texts += self._starts(op, heads, me)
        lines = printer.lines
        if checked:
            same = " && ".join(f"({printer.names[s]} == {me}{printer.names[s]})" for s in checked)
            lines = [f"    const bool same = {same};", "    if (same) {", *lines, "    }", "    return same;"]
        texts.append("\n".join([f"{heads['step']} {{", *quiet, *lines, "}"]))
        texts += [self._copy_text(op, heads["copy"])] if "copy" in heads else []
        if self.options.static:
            texts.append(f"const {base}_state *{base}_get(void) {{\n    return &{base}_self;\n}}")
        return texts

    def _copy_text(self, op: LoweredOperator, head: str) -> str:
        """The state of one instance to another of the same sizes."""
        printer = self.wrappers[op]
        names = [printer.names[s] for s in self.checked_sizes(op)]
        lines = [f"    const bool same = {' && '.join(f'(to->{n} == from->{n})' for n in names)};", "    if (same) {"]
        for b in self.state(op):
            field, count = safe(b.name), poly(1)
            for n in b.extents:
                count = count * n
            cells = printer.poly(count)
            for name in names:
                cells = _replace_word(cells, name, f"to->{name}")
            amount = f"(size_t)({cells}) * sizeof({b.dtype.c_name})" if not is_fixed(b) else f"sizeof(to->{field})"
            lines.append(f"        to->{field} = from->{field};" if not b.extents else f"        (void)memcpy(to->{field}, from->{field}, {amount});")
        lines += [f"        to->{printer.names[s]} = from->{printer.names[s]};" for s in self.stored_sizes(op) if s not in self.checked_sizes(op)]
        return "\n".join([f"{head} {{", *lines, "    }", "    return same;", "}"])

    def _starts(self, op: LoweredOperator, heads: dict[str, str], me: str) -> list[str]:
        """init and reset."""
        printer, start = self.wrappers[op], op.reset
        assert start is not None
        stored, state = self.stored_sizes(op), set(self.state(op))

        def call(sizes: str) -> str:
            given = [f"{sizes}{printer.names[s]}" if s in stored else "0" for s in op.cycle.sizes]
            for b in start.params:
                if b not in state:
                    given.append(safe(b.name))
                else:
                    given.append(f"{me}{safe(b.name)}" if b.extents or b in start.values else f"&{me}{safe(b.name)}")
            return f"{start.name}({', '.join(given)});"

        keep = [f"    {me}{printer.names[s]} = {printer.names[s]};" for s in stored]
        texts = []
        unused = [] if self.options.static or stored or state else ["    (void)self;"]
        if "init" in heads:
            lines = keep + [f"    self->{safe(b.name)} = {safe(b.name)};" for b in self.open_state(op)]
            if self.checked_sizes(op):
                test = self.needs_test(op)
                lines = [f"    const bool fits = {test};", *lines, "    if (fits) {", f"        {call('')}", "    }", "    return fits;"]
            else:
                lines = [*unused, *lines, f"    {call('')}"]
            texts.append("\n".join([f"{heads['init']} {{", *lines, "}"]))
            texts.append("\n".join([f"{heads['reset']} {{", *unused, f"    {call(me)}", "}"]))
        else:
            texts.append("\n".join([f"{heads['reset']} {{", *keep, f"    {call(me)}", "}"]))
        return texts

    # -- what sizes must satisfy

    def needs_test(self, op: LoweredOperator) -> str:
        """NEEDS of the operator, applied to the parameters of a function."""
        tests = self._needs(op)
        if not tests:
            return "true"
        sizes = ", ".join(self.wrappers[op].names[s] for s in op.cycle.sizes if s in self.stored_sizes(op))
        return f"{self.inner[op].upper()}_NEEDS({sizes})" if len(self.stored_sizes(op)) == len(op.cycle.sizes) else "true"

    def _needs(self, op: LoweredOperator) -> list[str]:
        """Conditions on sizes, as C over the macro's parameters."""
        printer, named = self.wrappers[op], _named(op)
        found = [printer.test(lp.Test("ge", poly=p.subst(named))) for p in needed_sizes(op.compiled.graph)]
        if INDEX_BITS[self.options.index] < 64:
            limit = (1 << (INDEX_BITS[self.options.index] - 1)) - 1
            found += [f"{printer.in_doubles(p)} <= {limit}.0" for p in self._reached(op)]
        for s in op.cycle.sizes:
            found = [_replace_word(text, printer.names[s], f"({safe(s.name)})") for text in found]
        return [f"({text})" for text in found]

    def _reached(self, op: LoweredOperator) -> list[Poly]:
        """The largest numbers that subscripts and counters reach, as polynomials of sizes. A number that does not fit is refused here."""
        bits, name = INDEX_BITS[self.options.index], op.compiled.name
        found: dict[Poly, None] = {}
        for p in reach(self, op):
            number = p.const()
            if number is not None and number >= 1 << (bits - 1):
                text = f"indices up to {number} do not fit in {self.options.index}"
                fail("E0965", op.compiled.operator.span, name=name, text=text, help="a wider index= will do: int32_t or int64_t")
            if number is None:
                found[p] = None
        return list(found)

    # -- bytes

    def stack_bytes(self, op: LoweredOperator) -> int:
        """Bytes of local memory along the deepest chain of calls."""
        with deep(NOWHERE):
            return max(self._function_stack(fn) for fn in (op.cycle, op.reset) if fn is not None)

    def _function_stack(self, fn: Lowered) -> int:
        if id(fn) not in self._stacks:
            self._stacks[id(fn)] = self._stack(fn.body)
        return self._stacks[id(fn)]

    def _stack(self, body: list[Any]) -> int:
        own = share(body).bytes(body)
        inner = 0
        for stmt in body:
            if isinstance(stmt, Invoke):
                inner = max(inner, self._callee_stack(stmt.function))
            elif not isinstance(stmt, CopyPiece):
                inner = max([inner, *(self._stack(list(b)) for b in lp.bodies(stmt))])
        return own + inner

    def _callee_stack(self, call: FunctionName) -> int:
        if call.scheme.external is not None:
            return self.externals[call.scheme].stack
        assert call.scheme.compiled is not None
        op = self.lowered.operator(call.scheme.compiled, call.types)
        fn = op.cycle if call.part == "cycle" else op.reset
        return self._function_stack(fn) if fn is not None else 0

    def work_bytes(self, op: LoweredOperator) -> Poly:
        total = poly(0)
        for chunk in op.compiled.layout.params():
            if chunk.role == "workspace":
                for leaf in leaves_of(chunk.type):
                    total = total + buffer_bytes(op.buffers[(chunk, leaf.components)])
        return total

    # -- the header

    def header(self) -> str:
        guard = f"{self.name.upper()}_H"
        lines = [f"/* Generated by Atoll{f' from {c_comment(self.source_name)}' if self.source_name else ''}.", " *"]
        lines += [" * Memories of one call do not overlap; arrays are row-major. Nothing is allocated, and nothing can fail."]
        if not self.options.wrap:
            lines += [" * Signed integers use C's operators: compile with -fwrapv where they may overflow."]
        lines += [" */", f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", ""]
        if self.options.index == "int":
            lines += ["#include <limits.h>", "#if INT_MAX < 2147483647", '#error "sizes are int, which is too narrow here"', "#endif", ""]
        restrict = ["#define MADL_RESTRICT", "#else", "#define MADL_RESTRICT restrict", "#endif", ""]
        lines += ["#if defined(__cplusplus)", *restrict] if self.options.restrict else []
        lines += ["#if defined(__cplusplus)", 'extern "C" {', "#endif", ""]
        lines += self._enumerations()
        for op in self.exported:
            lines += [*self._describe(op), ""]
        lines += ["#if defined(__cplusplus)", "}", "#endif", "", f"#endif /* {guard} */", ""]
        return "\n".join(lines)

    def _enumerations(self) -> list[str]:
        """The members of enumerations in the interfaces, as numbers."""
        wires = [w for op in self.exported for w in (*op.compiled.graph.arguments, *op.compiled.graph.results)]
        found = dict.fromkeys(t for w in wires for leaf in leaves_of(w.type) if isinstance(t := leaf.type, Enum))
        lines = []
        for t in found:
            stem = safe(f"{self.options.prefix}{t.name}").upper()
            lines += [f"/* {t.name} */", *(f"#define {stem}_{safe(m).upper()} {k}U" for k, m in enumerate(t.members)), ""]
        return lines

    def _describe(self, op: LoweredOperator) -> list[str]:
        scheme, base = op.compiled.scheme, self.inner[op]
        lines = [f"/* {op.compiled.name} : {scheme.show()}", f" * places: {scheme.show_places()}"]
        lines += [f" * needs {need}" for need in needs(op.compiled.graph)]
        lines += [f" * overwrites {name}" for name in (self.public[op].overwritten if op in self.public else [])]
        lines.append(" */")
        upper = base.upper()
        lines.append(f"#define {upper}_STACK_BYTES {self.stack_bytes(op)}")
        if self.options.visible:
            return [*lines, f"{self.printer(op.cycle).signature()};"]
        tests = self._needs(op)
        if tests:
            lines.append(f"#define {upper}_NEEDS({self._macro_args(op)}) ({' && '.join(tests)})")
        work = self.work_bytes(op)
        if work.terms:
            args = f"({self._macro_args(op)})" if work.const() is None else ""
            lines.append(f"#define {upper}_WORK_BYTES{args} {self._macro(work, op)}")
        if op.reset is not None:
            lines += [*self._struct(op), *self._state_bytes(op)]
        lines += [f"{head};" for head in self.heads(op, self._restrict("MADL_RESTRICT")).values()]
        if self.options.static and op.reset is not None:
            lines.append(f"const {base}_state *{base}_get(void);")
        return lines

    def _struct(self, op: LoweredOperator) -> list[str]:
        lines = ["typedef struct {"]
        lines += [f"    {self.options.index} {self.wrappers[op].names[s]};" for s in self.stored_sizes(op)]
        for b in self.state(op):
            t, field = b.dtype.c_name, safe(b.name)
            lines.append(f"    {t} *{field};" if not is_fixed(b) else f"    {t} {field}{dimensions(b)};")
        if len(lines) == 1:
            lines.append("    char none;")
        return [*lines, f"}} {self.inner[op]}_state;"]

    def _state_bytes(self, op: LoweredOperator) -> list[str]:
        """As the C compiler says, which knows its target: the struct, and the memory its pointers need."""
        upper, struct = self.inner[op].upper(), f"sizeof({self.inner[op]}_state)"
        total = poly(0)
        for b in self.open_state(op):
            total = total + buffer_bytes(b)
        if not total.terms:
            return [f"#define {upper}_STATE_BYTES ({struct})"]
        return [f"#define {upper}_STATE_BYTES({self._macro_args(op)}) ({struct} + (size_t){self._macro(total, op)})"]

    def _macro_args(self, op: LoweredOperator) -> str:
        return ", ".join(safe(s.name) for s in op.cycle.sizes)

    def _macro(self, p: Poly, op: LoweredOperator) -> str:
        if p.const() is not None:
            return str(p.const())
        text = self.wrappers[op].poly(p)
        for s in op.cycle.sizes:
            text = _replace_word(text, self.wrappers[op].names[s], f"({safe(s.name)})")
        return f"({text})"


def origin_map(name: str, text: str) -> str:
    """A line of the C after another, and the line of the source it comes from: what the comments say, for programs."""
    rows, now = [], None
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"/\* (\S+):(\d+): .*\*/$", line)
        if found is not None:
            now = (found.group(1), int(found.group(2)))
        elif line.startswith("}"):
            now = None
        elif now is not None and line.strip() not in ("", "}"):
            rows.append({"c": number, "file": now[0], "line": now[1]})
    return json.dumps({"note": "Generated by Atoll", "c": name, "lines": rows}) + "\n"


class _External:
    """An Atoll function as part of the file."""

    def __init__(self, scheme: Any, name: str) -> None:
        self.name = name
        self.kernel, self.stack = kernel(scheme, name)


def buffer_bytes(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for n in b.extents:
        total = total * n
    return total


def _named(op: LoweredOperator) -> dict[Any, Poly]:
    return {old: poly(new) for old, new in zip(op.compiled.graph.sizes, op.cycle.sizes, strict=True)}


def _replace_word(text: str, word: str, by: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", by, text)
