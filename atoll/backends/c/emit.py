"""Printing loops as C: one function for the program, one for the body of each piecewise loop.

`text` has names, lines and expressions, `loop_text` loops and sums, `piece_text` pieces; here are statements, memory, checks, printing, and
the function itself.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from atoll.backends.c import ops
from atoll.backends.c.apart import Apart
from atoll.backends.c.lengths import lines
from atoll.backends.c.printing import statements
from atoll.backends.c.text import C99, JIT, Dialect, safe
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Quot, poly
from atoll.sizes.poly import factors, terms_in_order


class Emitter(Apart):
    """Prints one function of the loop language."""

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: lp.Stmt) -> None:
        if self.marks is None:
            self.write(stmt)
            return
        with self.coming_from(stmt):
            self.write(stmt)

    def write(self, stmt: lp.Stmt) -> None:
        match stmt:
            case lp.Let(var, value):
                self.declare(var, self.expr(value), True)
            case lp.Declare(var, value):
                self.declare(var, ops.literal(0, var.dtype) if value is None else self.expr(value), False)
            case lp.Assign(var, value):
                self.put(f"{safe(var.name)} = {self.expr(value)};")
            case lp.Store(buffer, index, value) if buffer in self.planes:
                self.store_parts(buffer, index, value)
            case lp.Update(buffer, index, op, value) if buffer in self.planes:
                self.store_parts(buffer, index, lp.Call(op, (lp.Load(buffer, index), value), buffer.dtype))
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
            case lp.For() if self.is_apart(stmt):
                self.apart([stmt])
            case lp.For() | lp.Accumulate() if self.is_rounded_apart(stmt):
                self.apart([stmt])
            case lp.For():
                self.loop(stmt)
            case lp.Accumulate():
                self.accumulate(stmt)
            case lp.Chunks():
                self.chunks(stmt)
            case lp.If():
                if self.is_branch_apart(stmt):
                    self.apart([stmt])
                else:
                    self.branch(stmt)
            case lp.Forever(body):
                self.forever(body)
            case lp.BreakUnless(tests):
                self.put(f"if (!({self.tests(tests)})) {self.way_out};")
            case lp.Check():
                self.check(stmt)
            case lp.Helper():
                self.helper(stmt)
            case lp.CopyBuffer(target, source):
                self.copy(safe(target.name), safe(source.name), self.count(target), source.kind == "in" and target.kind == "out")
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

    def store_parts(self, buffer: lp.Buffer, index: tuple[Poly, ...], value: lp.Expr) -> None:
        with self.braces(""):
            self.put(f"const {buffer.dtype.c_name} at_number = {self.expr(value)};")
            for place, op in zip(self.parts(buffer, index), ("real", "imag"), strict=True):
                self.put(f"{place} = {ops.call(op, ['at_number'], buffer.dtype, buffer.dtype.part(), self.dialect.wrapping)};")

    def product(self, p: lp.Product) -> None:
        """A contraction by the runtime's matrix kernel, or by a function for tiny ones; its own loops when there is no runtime."""
        if not self.dialect.hosted:
            self.stmts(p.body)
            self.stmts(p.after)
            return
        rows = self.rows_after(p.after[0]) if p.after and isinstance(p.after[0], lp.Chunks) else None
        if rows is None and len(p.sums) == 1:
            given = [self.poly(x) for x in (p.rows, p.columns, p.sums[0], p.left_sums[0], p.right_sums[0], p.left_row, p.right_column, p.target_row)]
            given += [*(f"&{self.element(x.buffer, x.index)}" for x in (p.left, p.right, p.target)), str(int(p.adds))]
            self.uses_done = True
            self.put(f"if ((status = at_product_{p.target.dtype.name}(at, {', '.join(given)})) != 0) goto done;")
            return
        work = " * ".join(self.factor(x) for x in (p.rows, p.columns, *p.sums))
        with self.braces(""):
            lists = [", ".join(map(self.poly, each)) for each in (p.sums, p.left_sums, p.right_sums)]
            given = [self.poly(x) for x in (p.rows, p.columns)] + [f"{{{text}}}" for text in lists]
            given += [self.poly(x) for x in (p.left_row, p.right_column, p.target_row)]
            given += [f"&{self.element(x.buffer, x.index)}" for x in (p.left, p.right, p.target)]
            tail = ""
            if rows is not None:
                self.put(f"{rows.struct} at_context = {{{rows.args}}};")
                tail = f", {rows.function}, &at_context, {rows.work}"
            self.put(f"const at_product at_p = {{{', '.join(given)}, {len(p.sums)}, {int(p.adds)}{tail}}};")
            self.uses_done = True
            tiny, double = f"at_tiny_{p.target.dtype.name}(&at_p)", int(p.target.dtype.name == "f64")
            if rows is not None:
                tiny, ending = f"{{ {tiny}; if ((status = {rows.whole}) != 0) goto done; }}", ""
            else:
                ending = ";"
            self.put(f"if ({work} < 64) {tiny}{ending}")
            self.put(f"else if ((status = at_rt->product(at, &at_p, {double})) != 0) goto done;")

    # -- memory

    def copy(self, target: str, source: str, count: str, maybe_same: bool) -> None:
        """A whole array; `maybe_same`: the caller may have given it away."""
        if self.dialect.hosted:
            self.uses_done = True
            self.put(f"if ((status = at_copy(at, {target}, {source}, ({count}) * (int64_t)sizeof(*{target}))) != 0) goto done;")
            return
        if maybe_same:
            self.put(f"if ((const void *){target} != (const void *){source})")
        self.put(f"memcpy({target}, {source}, (size_t)({count}) * sizeof(*{target}));")

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

    def room(self, buffer: lp.Buffer) -> str:
        """Memory for it, or NULL."""
        total = poly(1)
        for n in buffer.extents:
            total = total * n
        given = f"{self.count(buffer)}, sizeof({buffer.dtype.c_name})"
        return f"at_room({self.in_doubles(total)}, {given})" if total.single() is None and total.leaves() else f"at_alloc({given})"

    def in_doubles(self, p: Poly) -> str:
        def atom(a: Atom) -> str:
            if isinstance(a, Quot):
                return f"floor(({self.in_doubles(a.num)}) / ({self.in_doubles(a.den)}))"
            return f"(double){self.atom(a)}"

        return " + ".join(" * ".join([f"{coef}.0", *factors(mono, atom)]) for mono, coef in terms_in_order(p, atom)) or "0.0"

    def alloc(self, buffer: lp.Buffer) -> None:
        name, t = safe(buffer.name), buffer.dtype.c_name
        if buffer in self.planes:
            self.put(f"{buffer.dtype.part().c_name} {name}[2][{self.count(buffer)}]{' __attribute__((aligned(64)))' if self.dialect.gnu else ''};")
            return
        if buffer.local:
            aligned = " __attribute__((aligned(64)))" if self.dialect.gnu else ""
            self.put(f"{t} {name}[{self.count(buffer)}]{aligned};")
            return
        self.allocated.setdefault(buffer, self.here)
        if self.dialect.hosted and buffer.kind != "out":
            slot = self.held.setdefault(buffer, len(self.held))
            self.uses_done = True
            self.put(f"if (!({name} = at_held[{slot}] = {self.room(buffer)})) {{ status = -1; goto done; }}")
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
            slot = self.held.setdefault(buffer, len(self.held))
            self.put(f"{name} = at_held[{slot}] = at_alloc({self.count(buffer)}, sizeof({t}));")
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
        found = self.inside(check.tests)
        with self.braces(f"if (__builtin_expect(!({found or self.tests(check.tests)}), 0))"):
            for k, arg in enumerate(check.args):
                text = self.expr(arg)
                if arg.dtype.is_float:
                    self.put(f"at->args[{k}].d = (double){text};")
                else:
                    self.put(f"at->args[{k}].i = (int64_t){text};")
            self.put(f"status = at_fail(at, {number});")
            self.put("goto done;")

    def inside(self, tests: tuple[lp.Test, ...]) -> str | None:
        """0 <= index < size as one comparison, where the size is seen not to be negative."""
        if len(tests) != 2 or any(t.kind != "ge" or t.poly is None for t in tests):
            return None
        first, second = tests[0].poly, tests[1].poly
        assert first is not None and second is not None
        size = first + second + 1
        wide = [a for a in first.leaves() if isinstance(a, lp.VarAtom) and not a.var.small]
        if len(wide) > 1 or not size.terms or any(c < 0 for c in size.terms.values()) or not size.leaves() <= set(self.fn.sizes):
            return None
        return f"(uint64_t)({self.poly(first)}) < (uint64_t)({self.poly(size)})"

    # -- the rest

    def helper(self, h: lp.Helper) -> None:
        if h.name in ("argsort", "sort"):
            (keys, first), (out, at) = h.buffers
            assert h.dtype is not None
            a, b = self.element(keys, first), self.element(out, at)
            host = "at, " if self.dialect.hosted else ""
            self.uses_done = True
            self.put(f"if ((status = at_{h.name}_{h.dtype.name}({host}&{a}, &{b}, {self.poly(h.sizes[0])})) != 0) goto done;")
        elif h.name == "compress":
            assert h.dtype is not None
            places = ", ".join(f"&{self.element(b, at)}" for b, at in h.buffers)
            kept = f"const int64_t {safe(h.result.name)} = " if h.result is not None else ""
            self.put(f"{kept}at_compress_{h.dtype.size}({places}, {self.poly(h.sizes[0])});")
        elif h.name == "settle":
            out, *spares = (b for b, _ in h.buffers)
            o = safe(out.name)
            with self.braces(f"if ({o} != at_{o})"):
                self.copy(f"at_{o}", o, self.count(out), False)
                for spare in spares:
                    self.put(f"if ({safe(spare.name)} == at_{o}) {safe(spare.name)} = {o};")
                self.put(f"{o} = at_{o};")
            for spare in spares:  # whatever went round, every spare owns what it points to again
                if spare in self.held:
                    self.put(f"at_held[{self.held[spare]}] = {safe(spare.name)};")
        elif h.name == "stream":
            (out, at), (line, _) = h.buffers
            self.put(f"at_stream(&{self.element(out, at)}, {safe(line.name)}, {self.poly(h.sizes[0] * line.dtype.size)});")
        elif h.name == "fence":
            self.put("at_fence();")
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
            self.put(f"const at_shown at_items[] = {{{', '.join(items) if items else '{0}'}}};")
            self.put(f"at_print(at, {number}, {len(items)}, at_items);")

    def plain_print(self, stmt: lp.Print) -> None:
        """Without a host: see printing.py."""
        for line in statements(self, stmt):
            self.put(line)

    def safe_name(self, buffer: lp.Buffer) -> str:
        return safe(buffer.name)

    def printed(self, shown: Any) -> str:
        if isinstance(shown, lp.Buffer):
            dims = ", ".join(self.poly(p) for p in shown.extents) or "0"
            return f"{{{safe(shown.name)}, {len(shown.extents)}, 0, (const int64_t[]){{{dims}}}, {{{{0}}}}}}"
        field = ".d" if shown.dtype.is_float else ".i"
        cast = "(double)" if shown.dtype.is_float else "(int64_t)"
        if shown.dtype.is_complex:
            f = "f" if shown.dtype.name == "c64" else ""
            text = self.expr(shown)
            return f"{{NULL, 0, 2, NULL, {{{{.d = creal{f}({text})}}, {{.d = cimag{f}({text})}}}}}}"
        return f"{{NULL, 0, 1, NULL, {{{{{field} = {cast}{self.expr(shown)}}}}}}}"

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
                params.append(f"{p.dtype.c_name} {safe(p.name)}" if isinstance(p, lp.Var) else f"const {self.c_type(p)} *restrict {safe(p.name)}")
            for o in self.fn.outputs:
                t = o.buffer.dtype.c_name
                if self.is_open(o.buffer):
                    continue
                star = "*" if o.buffer in self.swapped else "*restrict"
                params.append(f"{t} {star} {safe(o.buffer.name)}".replace("* ", "*"))
            if self.offsets:
                params.append("void *workspace")
            start = len(self.lines)
            self.here = "" if self.marks is None else self.marks.mark((self.fn.span,))
            with self.braces(f"static int {self.prefix}_run({', '.join(params) or 'void'})"):
                self.locals()
                self.spacious, self.length = self.is_long(self.fn.body), lines(self.fn.body)
                for o in self.fn.outputs:
                    if o.buffer in self.swapped:
                        self.put(f"{o.buffer.dtype.c_name} *const at_{safe(o.buffer.name)} = {safe(o.buffer.name)};")
                self.stmts(self.fn.body)
                self.finish()
            text = "\n".join(self.lines[start + 1 :])
            given = [self.names[s] for s in self.fn.sizes] + [safe(p.name) for p in self.fn.inputs]
            given += ["at"] if self.dialect.hosted else []
            quiet = [f"(void){g};" for g in given if not re.search(rf"\b{g}\b", text)]
            if quiet:
                self.lines.insert(start + 1, "    " + " ".join(quiet))
        return "\n\n".join([*self.const_arrays(), *self.units.texts, *self.texts])

    def is_open(self, buffer: lp.Buffer) -> bool:
        return buffer in self.opened

    @functools.cached_property
    def opened(self) -> set[lp.Buffer]:
        """Results whose sizes only running tells."""
        return {s.buffer for s in lp.walk(self.fn.body) if isinstance(s, lp.Alloc) and s.buffer.kind == "out"}


__all__ = ["C99", "JIT", "Dialect", "Emitter", "safe"]
