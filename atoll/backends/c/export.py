"""Readable C99 for people without Python: a .c, a .h and an example caller. No runtime library, no heap when none is needed.

The function's parameters are the sizes, the inputs, the outputs and, with workspace="caller", one buffer for all temporary arrays. It
returns 0, or the number of the check that failed; the header lists them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from atoll.ainf.ir import Site
from atoll.backends.c import ops
from atoll.backends.c.c_names import safe_symbol
from atoll.backends.c.emit import C99, Emitter, safe
from atoll.backends.c.prelude import needed, right_with_gcc
from atoll.backends.c.printing import SUPPORT
from atoll.backends.c.quoted import LONGEST, c_comment, c_string, characters
from atoll.backends.c.sort import sorts
from atoll.backends.c.written import write_files
from atoll.core import ir as core
from atoll.errors import fail
from atoll.errors.catalog import CODES
from atoll.errors.misuse import kind_of
from atoll.loops import ir as lp
from atoll.origins import Marks, with_comments, with_directives
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.describe import condition
from atoll.types.dtypes import DType
from atoll.types.types import Index, flatten, shape_of

_ALIGN = 64


def export(core_fn: core.Function, fn: lp.Function, folder: object, workspace: str = "heap", overwrite: bool = False, origins: str = "none") -> list[Path]:
    """Write the files; returns their paths. `origins`: "comments" or "lines" (#line) tell in the C which lines of the source it comes from."""
    if origins not in ("none", "comments", "lines"):
        text = f"origins is 'none', 'comments' or 'lines', not {kind_of(origins) if not isinstance(origins, str) else repr(origins)}"
        fail("E0610", name="export_c", text=text, help="leave it out for C without them")
    if not isinstance(workspace, str) or workspace not in ("heap", "caller"):
        fail("E0804", given=workspace if isinstance(workspace, str) else kind_of(workspace))
    name = safe_symbol(core_fn.name)
    marks = None if origins == "none" else Marks()
    writer = _Exporter(core_fn, fn, name, workspace, marks)
    source = writer.source()
    if marks is not None:
        rows, written = marks.rows(source), core_fn.span.source
        source = with_comments(rows, written) if origins == "comments" else with_directives(rows, written, f"{name}.c")
    files = {f"{name}.h": writer.header(), f"{name}.c": source, f"{name}_example.c": writer.example()}
    return write_files(folder, files, overwrite)


class _Exporter:
    def __init__(self, core_fn: core.Function, fn: lp.Function, name: str, workspace: str, marks: Marks | None) -> None:
        self.core, self.fn, self.name, self.workspace = core_fn, fn, name, workspace
        self.inside = _inside(fn, name)
        self.emitter = Emitter(fn, C99, self.inside)
        self.emitter.mark_with(marks)
        self.buffers = [s.buffer for s in lp.walk(fn.body) if isinstance(s, lp.Alloc) and not s.buffer.local]
        for stmt in lp.walk(fn.body):
            if isinstance(stmt, lp.Helper) and stmt.name in ("argsort", "sort") and workspace == "caller":
                fail("E0805", name=core_fn.name, what="sorting")
        self.open = [o for o in fn.outputs if o.buffer in self.buffers]
        if self.open:
            fail("E0825", name=core_fn.name)
        if workspace == "caller":
            self._check_workspace()
            self.emitter.offsets = self._offsets()
        self.kernel = self.emitter.kernel()

    def _check_workspace(self) -> None:
        sizes = {*self.fn.sizes, *(p.atom for p in self.fn.inputs if isinstance(p, lp.Var))}
        for b in self.buffers:
            if any(leaf not in sizes for p in b.extents for leaf in p.leaves()):
                fail("E0805", name=self.core.name, what=f"a temporary array whose size changes while it runs ({b.reason})")

    def _offsets(self) -> dict[lp.Buffer, Poly]:
        """Every buffer has its own part of the workspace."""
        offsets, total = {}, poly(0)
        for b in self.buffers:
            offsets[b] = total
            total = total + self._rounded(b)
        return offsets

    def _rounded(self, b: lp.Buffer) -> Poly:
        return (self.bytes_of(b) + (_ALIGN - 1)) // _ALIGN * _ALIGN

    # -- pieces of text

    def _size_name(self, sym: Sym) -> str:
        return self.emitter.names[sym]

    def params(self) -> list[str]:
        found = [f"int64_t {self._size_name(s)}" for s in self.fn.sizes]
        for p in self.fn.inputs:
            t = p.dtype.c_name
            found.append(f"{t} {safe(p.name)}" if isinstance(p, lp.Var) else f"const {t} *{safe(p.name)}")
        found += [f"{o.buffer.dtype.c_name} *{safe(o.buffer.name)}" for o in self.fn.outputs]
        if self.workspace == "caller" and self.buffers:
            found.append("void *workspace")
        return found

    def poly(self, p: Poly) -> str:
        """A size in the header: over macro parameters."""
        sizes = {s.name: self._size_name(s) for s in self.fn.sizes}
        return re.sub(r"\b([^\W\d]\w*)\b", lambda m: f"({sizes.get(m[0]) or safe(m[0])})", repr(p)).replace("//", "/")

    def bytes_of(self, b: lp.Buffer) -> Poly:
        total = poly(b.dtype.size)
        for n in b.extents:
            total = total * n
        return total

    def header(self) -> str:
        guard = f"{self.name.upper()}_H"
        lines = [
            f"/* {self.name}: generated by Atoll. {c_comment(self.core.name + _signature(self.core))}",
            " *",
            *(f" * {c_comment(line)}" for line in self._contract()),
            " */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdbool.h>",
            "#include <stdint.h>",
        ]
        complex_ = sorted({d.name: d for d in self._dtypes() if d.is_complex}.items())
        if complex_:  # C++ has no such type, but one of the same layout
            lines += ["", "#ifdef __cplusplus", "#include <complex>", *(f"typedef std::complex<{d.part().c_name}> {self.name}_{name};" for name, d in complex_)]
            lines += ["#else", "#include <complex.h>", *(f"typedef {d.c_name} {self.name}_{name};" for name, d in complex_), "#endif"]
        lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        if self.workspace == "caller":
            lines += self._workspace_macro()
        given = ", ".join(self.params()) or "void"
        for name, d in complex_:
            given = given.replace(f"{d.c_name} ", f"{self.name}_{name} ")
        lines += [f"int {self.name}({given});", ""]
        lines += [f"/* What a result other than 0 means. */\nconst char *{self.name}_error(int status);", ""]
        lines += ["#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""]
        return "\n".join(lines)

    def _dtypes(self) -> list[DType]:
        return [p.dtype for p in self.fn.inputs] + [o.buffer.dtype for o in self.fn.outputs]

    def _contract(self) -> list[str]:
        lines = ["Arrays are row-major and do not overlap:"]
        for p in self.fn.inputs:
            if isinstance(p, lp.Buffer):
                lines.append(f"  {safe(p.name)}[{']['.join(map(repr, p.extents))}]  read")
        for o in self.fn.outputs:
            shape = f"[{']['.join(map(repr, o.buffer.extents))}]" if o.buffer.extents else " (one value)"
            lines.append(f"  {safe(o.buffer.name)}{shape}  written")
        for need in self.core.requires:
            lines.append(f"The caller makes sure that {condition(need.poly)} ({need.text}).")
        heap = "no heap" if not self.buffers or self.workspace == "caller" else "malloc for temporary arrays"
        lines.append(f"Returns 0, or the number of a failed check. Uses {heap}.")
        return lines

    def _workspace_macro(self) -> list[str]:
        if not self.buffers:
            return [f"#define {self.name.upper()}_WORKSPACE 0", ""]
        names = ", ".join([*(self._size_name(s) for s in self.fn.sizes), *(safe(p.name) for p in self.fn.inputs if isinstance(p, lp.Var))])
        total = " + ".join(f"({self.poly(self._rounded(b))})" for b in self.buffers)
        return [
            "/* Bytes of workspace, aligned to 64, that a call needs. */",
            f"#define {self.name.upper()}_WORKSPACE({names}) ({total})",
            "",
        ]

    def source(self) -> str:
        kernel = self.kernel
        sorting = sorts(kernel, False)
        parts = [
            f"/* {self.name}: generated by Atoll. See {self.name}.h for what it takes and gives. */",
            f'#include "{self.name}.h"\n',
            "#include <complex.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <string.h>",
        ]
        if any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(self.fn.body)):
            parts.append(right_with_gcc())
        if "printf(" not in kernel:
            parts[2] = parts[2].replace("#include <stdio.h>\n", "")
        if self._allocates():
            parts.append(self._memory_text())
        support = needed("\n".join([kernel, *sorting]))
        if any(f"{name}(" in kernel for name in ("at_number", "at_complex_number", "at_print_array")):
            parts.append(_only_used(kernel))
        parts += [*support, *sorting, kernel, self._entry(), self._errors()]
        return "\n\n".join(parts) + "\n"

    def _allocates(self) -> bool:
        return bool(self.buffers) or "at_alloc(" in self.kernel or bool(sorts(self.kernel, False))

    def _memory_text(self) -> str:
        if self.workspace == "caller":
            return ""
        return (
            "#include <stdlib.h>\n\nstatic void *at_alloc(int64_t count, size_t size) {\n"
            "    return malloc(count > 0 ? (size_t)count * size : 1);\n}\n\nstatic void at_free(void *block) { free(block); }"
            + ("\n\nstatic void at_free_all(void **held, int count) {\n    for (int k = 0; k < count; k++) at_free(held[k]);\n}" if "at_free_all(" in self.kernel else "")
        )

    def _entry(self) -> str:
        args = [self._size_name(s) for s in self.fn.sizes]
        args += [safe(p.name) for p in self.fn.inputs]
        args += [safe(o.buffer.name) for o in self.fn.outputs]
        if self.workspace == "caller" and self.buffers:
            args.append("workspace")
        return f"int {self.name}({', '.join(self.params()) or 'void'}) {{\n    return {self.inside}_run({', '.join(args)});\n}}"

    def _errors(self) -> str:
        lines = [f"const char *{self.name}_error(int status) {{", "    switch (status) {", '    case 0: return "ok";']
        lines.append('    case -1: return "not enough memory";')
        long: list[str] = []
        for k, site in enumerate(self.emitter.sites):
            text = _site_text(site)
            if len(text.encode(errors="replace")) <= LONGEST:
                lines.append(f'    case {k + 1}: return "{c_string(text)}";')
                continue
            long.append(f"static const char {self.inside}_text_{k + 1}[] = {{{characters(text)}}};")
            lines.append(f"    case {k + 1}: return {self.inside}_text_{k + 1};")
        return "\n".join([*long, *lines, '    default: return "unknown";', "    }", "}"])

    def example(self) -> str:
        """A caller with small sizes and made-up data."""
        sizes = {s: 4 + k for k, s in enumerate(self.fn.sizes)}
        env: dict[Any, int] = dict(sizes)
        for p in self.fn.inputs:
            if isinstance(p, lp.Var):
                env[p.atom] = 2
        elements = [shape_of(leaf)[1] for _, param in self.core.params for _, leaf in flatten(param)]
        indices = {p: e.size for p, e in zip(self.fn.inputs, elements, strict=True) if isinstance(e, Index)}
        lines = [f"/* A caller of {self.name}, generated by Atoll. */", f'#include "{self.name}.h"', "#include <stdio.h>"]
        if self.workspace == "caller" and self.buffers:
            lines.append("#include <stdlib.h>")
        lines += ["", "int main(void) {"]
        own = [*map(self._size_name, self.fn.sizes), *(safe(p.name) for p in (*self.fn.inputs, *(o.buffer for o in self.fn.outputs)))]
        i = next(x for x in ("i", "j", "k", "at_i") if x not in own)
        local = {x: f"{x}_local" if x in (self.name, f"{self.name}_error") else x for x in own}
        args = [local[self._size_name(s)] for s in self.fn.sizes]
        lines += [f"    const int64_t {name} = {n};" for name, n in zip(args, sizes.values(), strict=True)]
        for p in self.fn.inputs:
            t, name = p.dtype.c_name, local[safe(p.name)]
            args.append(name)
            if isinstance(p, lp.Var):
                lines.append(f"    const {t} {name} = {'true' if t == 'bool' else 2};")
                continue
            count = self._count(p, env)
            lines.append(f"    static {t} {name}[{max(1, count)}];")
            small = f"{i} % {max(1, indices[p].evaluate(lambda a: env.get(a, 2)))}" if p in indices else f"1 + {i} % 3"
            value = f"{i} % 2 == 0" if t == "bool" else f"({t})({small})"
            lines.append(f"    for (int {i} = 0; {i} < {count}; {i}++) {name}[{i}] = {value};")
        for o in self.fn.outputs:
            t, name = o.buffer.dtype.c_name, local[safe(o.buffer.name)]
            args.append(name)
            lines.append(f"    static {t} {name}[{max(1, self._count(o.buffer, env))}];")
        if self.workspace == "caller" and self.buffers:
            given = ", ".join(local[x] for x in [*map(self._size_name, self.fn.sizes), *(safe(p.name) for p in self.fn.inputs if isinstance(p, lp.Var))])
            lines.append(f"    void *workspace = malloc({self.name.upper()}_WORKSPACE({given}));")
            args.append("workspace")
        lines.append(f"    const int status = {self.name}({', '.join(args)});")
        lines.append(f'    if (status != 0) {{\n        printf("%s\\n", {self.name}_error(status));\n        return 1;\n    }}')
        for o in self.fn.outputs:
            name, count = local[safe(o.buffer.name)], self._count(o.buffer, env)
            d = o.buffer.dtype
            fmt, cast = ("%g", "(double)") if d.is_float else ("%lld", "(long long)") if not d.is_complex else ("%g", "(double)creal")
            shown = f"{cast}{name}[{i}]" if not d.is_complex else f"(double)creal({name}[{i}])"
            lines.append(f'    for (int {i} = 0; {i} < {min(count, 8)}; {i}++) printf("{name}[%d] = {fmt}\\n", {i}, {shown});')
        if self.workspace == "caller" and self.buffers:
            lines.append("    free(workspace);")
        return "\n".join([*lines, "    return 0;", "}", ""])

    def _count(self, b: lp.Buffer, env: dict[Any, int]) -> int:
        total = 1
        for p in b.extents:
            total *= max(0, p.evaluate(lambda a: env.get(a, 2)))
        return total


def _only_used(kernel: str) -> str:
    """The support for printing: of numbers alone where no array is printed."""
    pieces = SUPPORT.split("\n\n")
    if "at_print_array(" in kernel:
        return SUPPORT
    return "\n\n".join(pieces[: 3 if "at_complex_number(" in kernel else 2])


def _inside(fn: lp.Function, name: str) -> str:
    """What the names of functions inside the file begin with; no parameter is called like one of them."""
    own = [*(s.name for s in fn.sizes), *(p.name for p in fn.inputs), *(o.buffer.name for o in fn.outputs)]
    while any(re.fullmatch(rf"{name}_(run|piece\d*\w*)", x) for x in own):
        name += "_"
    return name


def _signature(fn: core.Function) -> str:
    params = ", ".join(f"{sym.name}: {t!r}" for sym, t in fn.params)
    return f"({params}) -> {fn.result!r}"


def _site_text(site: Site) -> str:
    title = CODES[site.code].title
    values = {k: v for k, v in site.values.items() if isinstance(v, str)}
    template = site.values.get("template", ())
    if template:
        values["text"] = "".join(part if isinstance(part, str) else "..." for part in template)
    text = re.sub(r"\{(\w+)\}", lambda m: values.get(m.group(1), "..."), title)
    where = f" (line {site.span.line} of {Path(site.span.source.name).name})" if site.span.line else ""
    return f"{site.code}: {text}{where}".replace("\n", " ")


__all__ = ["export", "ops"]
