"""The C99 files of a module: a header, a source, an example caller. No library, no heap.

    stateless operator    void dot(int64_t n, int32_t *s, const int32_t *u, const int32_t *v);
    with state            the same, with the state among its memories, and what a user wants:
                          typedef struct { int32_t a; int32_t b; } fib_state;
                          void fib_init(fib_state *self);  void fib_reset(fib_state *self);  void fib_step(fib_state *self, int32_t *n);
                          A result that is state is read from self. State of a size that is not a number is a pointer that init sets.
    static=True           one instance in the file: void fib_step(int32_t *n);
    macros                DOT_STACK_BYTES, FIB_STATE_BYTES, REV_WORK_BYTES(n)

Stack bytes count the memory of the program itself along the deepest chain of calls; what the C compiler adds for registers and return addresses is
its own affair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.backends.c.emit import safe
from atoll.backends.c.prelude import needed, right_with_gcc
from atoll.backends.c.quoted import c_comment
from atoll.backends.c.written import write_files
from atoll.errors import fail
from atoll.loops import ir as lp
from atoll.madl.c_names import MATH
from atoll.madl.c_print import PLAIN, WRAPPING, Printer, dimensions, is_fixed
from atoll.madl.compiled import Compiled
from atoll.madl.lower import CopyPiece, FunctionName, Invoke, Lowered, LoweredFile, LoweredOperator
from atoll.madl.pieces import leaves_of
from atoll.sizes import Poly, poly
from atoll.sizes.describe import condition
from atoll.types.types import Type


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may ask of the C."""

    static: bool = False  # state in the file, one instance of each node
    wrap: bool = False  # integers wrap on any compiler
    index: str = "int64_t"  # the type of sizes and counters
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
        self.lowered = LoweredFile("madl__" if self.options.visible else "")
        self.exported = [self.lowered.operator(*(c if isinstance(c, tuple) else (c, ()))) for c in operators]
        self.externals: dict[Any, _External] = {}
        self.names: dict[FunctionName, str] = {}
        for op in list(self.lowered.operators.values()):
            for fn in (op.cycle, op.reset):
                for call in fn.calls if fn is not None else []:
                    self._name(call)
        self.printers = {id(fn): self._printer(fn) for op in self.lowered.operators.values() for fn in (op.cycle, op.reset) if fn}
        self.functions = {key: p.function() for key, p in self.printers.items()}

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
        return Printer(fn, self.names, WRAPPING if self.options.wrap else PLAIN, self.options.index)

    def printer(self, fn: Lowered) -> Printer:
        return self.printers[id(fn)]

    def write(self, folder: object, overwrite: bool = False) -> list[Path]:
        """The three files."""
        texts = {f"{self.name}.h": self.header(), f"{self.name}.c": self.source(), f"{self.name}_example.c": self.example()}
        return write_files(folder, texts, overwrite)

    # -- the source

    def source(self) -> str:
        texts = [self.functions[id(fn)] for op in self.lowered.operators.values() for fn in (op.reset, op.cycle) if fn]
        internal = {id(fn) for op in self.lowered.operators.values() if op not in self.exported for fn in (op.reset, op.cycle) if fn}
        if not self.options.visible:
            internal |= {id(op.reset) for op in self.exported if op.reset is not None}
        helpers: dict[str, str] = {}
        for p in self.printers.values():
            helpers.update(p.helpers)
        kernels = [e.kernel for e in self.externals.values()]
        body = "\n".join([*texts, *kernels])
        support = needed(body)
        includes = ["<string.h>"] if "memcpy(" in body else []
        includes += ["<math.h>"] if MATH & set(re.findall(r"\b[A-Za-z_]\w*\b", body + "".join([*support, *helpers.values()]))) else []
        prototypes = [f"static {self.printers[key].signature()};" for key in internal]
        parts = [f"/* Generated by Atoll{f' from {c_comment(self.source_name)}' if self.source_name else ''}. See {self.name}.h. */"]
        parts += [f'#include "{self.name}.h"\n' + "".join(f"\n#include {i}" for i in includes)]
        parts += [*([right_with_gcc()] if "for (" in body else []), *support, *helpers.values(), *kernels]
        if prototypes:
            parts.append("\n".join(prototypes))
        order = [fn for op in self.lowered.operators.values() for fn in (op.reset, op.cycle) if fn]
        parts += [("static " if id(fn) in internal else "") + self.functions[id(fn)] for fn in order]
        for op in self.exported:
            if op.reset is not None:
                parts += [*self._state_check(op), *self._wrappers(op)]
        return "\n\n".join(parts) + "\n"

    # -- nodes

    def _state(self, op: LoweredOperator) -> list[lp.Buffer]:
        chunks = [c for c in op.compiled.layout.params() if c.role == "state"]
        return [b for (chunk, _), b in op.buffers.items() if chunk in chunks]

    def _open_state(self, op: LoweredOperator) -> list[lp.Buffer]:
        return [b for b in self._state(op) if not is_fixed(b)]

    def _struct(self, op: LoweredOperator) -> list[str]:
        name = f"{op.cycle.name}_state"
        lines = ["typedef struct {"]
        for b in self._state(op):
            t, field = b.dtype.c_name, safe(b.name)
            sizes = dimensions(b)
            lines.append(f"    {t} *{field};" if not is_fixed(b) else f"    {t} {field}{sizes};")
        if not self._state(op):
            lines.append("    char none;")
        return [*lines, f"}} {name};"]

    def _state_check(self, op: LoweredOperator) -> list[str]:
        """The C compiler agrees on the size of the state."""
        if self._open_state(op):
            return []
        name = op.cycle.name
        return [f"typedef char {name}_state_size_is_as_said[sizeof({name}_state) == {name.upper()}_STATE_BYTES ? 1 : -1];"]

    def _node_heads(self, op: LoweredOperator, keyword: str) -> dict[str, str]:
        """The declarations of init, reset and step."""
        name, printer = op.cycle.name, self.printer(op.cycle)
        state = set(self._state(op))
        visible = [b for b in op.cycle.params if b not in state]
        assert op.reset is not None
        for_start = [b for b in op.reset.params if b not in state]
        own = [] if self.options.static else [f"{name}_state *self"]
        sizes = printer.parameters([])
        open_ = [f"{b.dtype.c_name} *{safe(b.name)}" for b in self._open_state(op)]
        work = [self.printer(op.reset).parameter(b, keyword) for b in for_start]
        start = self._sizes_needed(op)
        heads = {"reset": [*own, *start, *work], "step": [*own, *sizes, *(printer.parameter(b, keyword) for b in visible)]}
        if not self.options.static:
            heads["init"] = [*own, *start, *open_, *work]
        return {part: f"void {name}_{part}({', '.join(params) or 'void'})" for part, params in heads.items()}

    def _sizes_needed(self, op: LoweredOperator) -> list[str]:
        """Starting a node needs its sizes only when its state has them."""
        assert op.reset is not None
        printer = self.printer(op.reset)
        text = self.functions[id(op.reset)]
        return printer.parameters([]) if any(f"(void){printer.names[s]};" not in text for s in op.reset.sizes) else []

    def _wrappers(self, op: LoweredOperator) -> list[str]:
        name, heads = op.cycle.name, self._node_heads(op, "restrict")
        assert op.reset is not None
        if self.options.static and self._open_state(op):
            fail("E0965", op.compiled.operator.span, name=op.compiled.name, text="its state has a size that is not a number, so it cannot be static")
        me = f"{name}_self." if self.options.static else "self->"
        state = set(self._state(op))

        def passed(fn: Lowered) -> str:
            printer = self.printer(fn)
            given = [printer.names[s] for s in fn.sizes]
            if fn is op.reset and not self._sizes_needed(op):
                given = ["0" for _ in fn.sizes]
            for b in fn.params:
                if b not in state:
                    given.append(safe(b.name))
                else:
                    given.append(f"{me}{safe(b.name)}" if b.extents else f"&{me}{safe(b.name)}")
            return f"    {fn.name}({', '.join(given)});"

        texts = [f"static {name}_state {name}_self;"] if self.options.static else []
        texts.append("\n".join([f"{heads['reset']} {{", passed(op.reset), "}"]))
        if "init" in heads:
            sets = [f"    self->{safe(b.name)} = {safe(b.name)};" for b in self._open_state(op)]
            texts.append("\n".join([f"{heads['init']} {{", *sets, passed(op.reset), "}"]))
        texts.append("\n".join([f"{heads['step']} {{", passed(op.cycle), "}"]))
        if self.options.static:
            texts.append(f"const {name}_state *{name}_get(void) {{\n    return &{name}_self;\n}}")
        return texts

    # -- bytes

    def stack_bytes(self, op: LoweredOperator) -> int:
        """Bytes of local memory along the deepest chain of calls."""
        worst = self._stack(op.cycle.body)
        return max(worst, self._stack(op.reset.body)) if op.reset is not None else worst

    def _stack(self, body: list[Any]) -> int:
        own = sum(_bytes(s.buffer).const() or 0 for s in body if isinstance(s, lp.Alloc))
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
        return self._stack(fn.body) if fn is not None else 0

    def state_bytes(self, op: LoweredOperator) -> Poly:
        """The size of the state struct, and of the memory its pointers need."""
        offset, widest, open_ = 0, 1, poly(0)
        for b in self._state(op):
            if not is_fixed(b):
                open_ = open_ + _bytes(b)
                width = total = 8
            else:
                width, total = b.dtype.size, _bytes(b).const() or b.dtype.size
            offset = -(-offset // width) * width + total
            widest = max(widest, width)
        return poly(max(1, -(-offset // widest) * widest)) + open_

    def work_bytes(self, op: LoweredOperator) -> Poly:
        total = poly(0)
        for chunk in op.compiled.layout.params():
            if chunk.role == "workspace":
                for leaf in leaves_of(chunk.type):
                    total = total + _bytes(op.buffers[(chunk, leaf.components)])
        return total

    # -- the header

    def header(self) -> str:
        guard = f"{self.name.upper()}_H"
        lines = [f"/* Generated by Atoll{f' from {c_comment(self.source_name)}' if self.source_name else ''}.", " *"]
        lines += [" * Memories do not overlap; arrays are row-major. Nothing is allocated, and nothing can fail."]
        if not self.options.wrap:
            lines += [" * Signed integers use C's operators: compile with -fwrapv where they may overflow."]
        lines += [" */", f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", ""]
        lines += ["#if defined(__cplusplus)", "#define MADL_RESTRICT", 'extern "C" {', "#else", "#define MADL_RESTRICT restrict", "#endif", ""]
        for op in self.exported:
            lines += [*self._describe(op), ""]
        lines += ["#if defined(__cplusplus)", "}", "#endif", "", f"#endif /* {guard} */", ""]
        return "\n".join(lines)

    def _describe(self, op: LoweredOperator) -> list[str]:
        scheme, name = op.compiled.scheme, op.cycle.name
        lines = [f"/* {op.compiled.name} : {scheme.show()}", f" * places: {scheme.show_places()}"]
        needs = [condition(p.subst(_named(op))) for p, _, _ in op.compiled.graph.requirements if len(p.terms) > 1 and p.const() is None]
        lines += [f" * needs {need}" for need in dict.fromkeys(needs)]
        lines.append(" */")
        upper = name.upper()
        lines.append(f"#define {upper}_STACK_BYTES {self.stack_bytes(op)}")
        work = self.work_bytes(op)
        if work.terms:
            lines.append(f"#define {upper}_WORK_BYTES({self._macro_args(op)}) {self._macro(work, op)}")
        lines.append(f"{self.printer(op.cycle).signature('MADL_RESTRICT')};")
        if op.reset is not None:
            size = self.state_bytes(op)
            args = f"({self._macro_args(op)})" if size.const() is None else ""
            lines += ["", *self._struct(op), f"#define {upper}_STATE_BYTES{args} {self._macro(size, op)}"]
            lines += [f"{head};" for head in self._node_heads(op, "MADL_RESTRICT").values()]
            if self.options.static:
                lines.append(f"const {name}_state *{name}_get(void);")
        return lines

    def _macro_args(self, op: LoweredOperator) -> str:
        return ", ".join(safe(s.name) for s in op.cycle.sizes)

    def _macro(self, p: Poly, op: LoweredOperator) -> str:
        if p.const() is not None:
            return str(p.const())
        text = self.printer(op.cycle).poly(p)
        for s in op.cycle.sizes:
            text = _replace_word(text, self.printer(op.cycle).names[s], f"({safe(s.name)})")
        return f"({text})"

    # -- the example

    def example(self) -> str:
        """A caller with small sizes."""
        lines = [f'#include "{self.name}.h"', "#include <stdio.h>", "", "int main(void) {"]
        for op in self.exported:
            lines += self._example_call(op)
        return "\n".join([*lines, "    return 0;", "}", ""])

    def _example_call(self, op: LoweredOperator) -> list[str]:
        sizes = _small_sizes(op.compiled)
        if sizes is None:
            return []
        env: dict[Any, int] = {new: sizes[old] for old, new in zip(op.compiled.graph.sizes, op.cycle.sizes, strict=True)}
        state, name = set(self._state(op)), op.cycle.name
        lines, args = ["    {"], [str(env[s]) for s in op.cycle.sizes]
        for b in op.cycle.params:
            if b in state:
                continue
            t, v = b.dtype.c_name, safe(b.name)
            if is_fixed(b):
                lines.append(f"        static {t} {v}{dimensions(b)};")
                args.append(f"&{v}" if not b.extents else v)
            else:
                total = 1
                for n in b.extents:
                    total *= max(0, n.evaluate(lambda a: env[a]))
                lines.append(f"        static {t} {v}[{max(1, total)}];")
                args.append(v)
        if op.reset is None:
            lines.append(f"        {name}({', '.join(args)});")
        else:
            me = [] if self.options.static else ["&self"]
            start = [str(env[s]) for s in op.reset.sizes] if self._sizes_needed(op) else []
            for b in self._open_state(op):
                total = 1
                for n in b.extents:
                    total *= max(0, n.evaluate(lambda a: env[a]))
                lines.append(f"        static {b.dtype.c_name} {safe(b.name)}_of_self[{max(1, total)}];")
                start.append(f"{safe(b.name)}_of_self")
            start += [safe(b.name) for b in op.reset.params if b not in state]
            lines += [] if self.options.static else [f"        static {name}_state self;"]
            first = "reset" if self.options.static else "init"
            lines += [f"        {name}_{first}({', '.join([*me, *start])});", f"        {name}_step({', '.join([*me, *args])});"]
        lines += [f'        printf("{name}\\n");', "    }"]
        return lines


class _External:
    """An Atoll function as part of the file."""

    def __init__(self, scheme: Any, name: str) -> None:
        from atoll.madl.imports import kernel

        self.name = name
        self.kernel, self.stack = kernel(scheme, name)


def _bytes(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for n in b.extents:
        total = total * n
    return total


def _named(op: LoweredOperator) -> dict[Any, Poly]:
    return {old: poly(new) for old, new in zip(op.compiled.graph.sizes, op.cycle.sizes, strict=True)}


def _replace_word(text: str, word: str, by: str) -> str:
    import re

    return re.sub(rf"\b{re.escape(word)}\b", by, text)


def _small_sizes(compiled: Compiled) -> dict[Any, int] | None:
    """Sizes that satisfy what the operator requires."""
    import itertools

    syms = compiled.graph.sizes
    for values in itertools.islice(itertools.product((4, 3, 5, 2, 1, 6, 8, 0), repeat=len(syms)), 5000):
        env: dict[Any, int] = dict(zip(syms, values, strict=True))
        if all(p.evaluate(env) >= 0 for p, _, _ in compiled.graph.requirements):
            return env
    return None


