"""Loops in pieces as C: a function per piece with `restrict` parameters, because that is what lets the C compiler see that nothing aliases
(docs/sources.md C0), called for each piece, perhaps by several threads. Every failure goes to the label `done`, where memory is given back.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.backends.c import looks
from atoll.backends.c.lengths import lines
from atoll.backends.c.loop_text import Loops
from atoll.backends.c.text import safe
from atoll.backends.c.used import Used, collect, written_buffers
from atoll.loops import ir as lp
from atoll.loops.questions import may_fail
from atoll.loops.transform.split import is_wide, may_be_negative
from atoll.types.dtypes import BOOL

_LONG = 160  # lines of a function that are many


@dataclass(frozen=True, slots=True)
class Rows:
    """C for pieces that the matrix kernel runs: the function it calls, its context, and the call for all rows."""

    function: str
    struct: str
    args: str
    whole: str
    work: str


class Pieces(Loops):
    def is_long(self, body: lp.Stmts) -> bool:
        """A function of these statements takes compilers long: its nests become functions."""
        return self.dialect.hosted and lines(body) > _LONG

    def chunks(self, chunk: lp.Chunks) -> None:
        """A loop in pieces: a function for one piece, called for each, perhaps by several threads."""
        if not self.dialect.hosted:
            self.one_piece(chunk)
            return
        used = collect(chunk.body, {chunk.low, chunk.high})
        accs = {a.var for a in chunk.accs}
        used.vars = {v: None for v in used.vars if v not in accs}
        name = f"{self.prefix}_piece{self.pieces}"
        self.pieces += 1
        params = self.params(used, chunk.body)
        with self.unit(name):
            self.piece_function(name, chunk, used, _is_divided(chunk))
            self.all_pieces(name, chunk, params)
        self.call_pieces(self.unit_names[name], chunk, params)

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
                self.put(f"const int64_t {high} = {extent if not may_be_negative(chunk.extent) else f'{extent} > 0 ? {extent} : 0'};")
                self.stmts(chunk.body)
        del low
        self.names.leave(chunk.low)
        self.names.leave(chunk.high)

    def params(self, used: Used, body: lp.Stmts) -> list[tuple[str, str, str]]:
        """(type, name, argument) for everything a piece needs."""
        written = written_buffers(body)
        found: list[tuple[str, str, str]] = []
        for sym in used.syms:
            found.append(("int64_t", self.names[sym], self.names[sym]))
        for var in used.vars:
            found.append((var.dtype.c_name, safe(var.name), safe(var.name)))
        for buffer in used.buffers:
            if buffer.kind == "const":
                continue
            const = "" if buffer in written else "const "
            found.append((f"{const}{self.c_type(buffer)} *restrict", safe(buffer.name), safe(buffer.name)))
        return found

    def piece_function(self, name: str, chunk: lp.Chunks, used: Used, divided: bool = False) -> None:
        params = self.params(used, chunk.body)
        saved = dict(self.adders)
        with self.function_text():
            low, high = self.names.enter(chunk.low), self.names.enter(chunk.high)
            given = ["at_call *at", f"int64_t {low}", f"int64_t {high}"]
            given += [f"{t} {n}" for t, n, _ in params]
            given += [f"{a.var.dtype.c_name} *{safe(a.var.name)}_out" for a in chunk.accs]
            start = len(self.lines)
            self.divided = (chunk.low, chunk.high) if divided else None
            self.spacious, self.length = self.is_long(chunk.body), lines(chunk.body)
            with self.braces(f"AT_PIECE int {name}({', '.join(given)})"):
                self.locals()
                for acc in chunk.accs:
                    v = safe(acc.var.name)
                    self.declare(acc.var, self.neutral(acc), False)
                    self.adders[acc.var] = lambda value, v=v, acc=acc: f"{v} = {self._combine(acc, v, value)};"
                self.stmts(chunk.body)
                for acc in chunk.accs:
                    self.put(f"*{safe(acc.var.name)}_out = {safe(acc.var.name)};")
                self.finish()
            if not self.uses_done:
                self.lines.insert(start + 1, "    (void)at;")
            self.names.leave(chunk.low)
            self.names.leave(chunk.high)
            self.divided = None
        self.adders = saved

    def locals(self) -> None:
        """Where a function declares what it turns out to need: its status, pointers of buffers it allocates. What it must give back is held in one array,
        which compilers handle well."""
        self.head_line = len(self.lines)

    def finish(self, last: list[str] | None = None) -> None:
        """The end of a function: what it does last, give memory back, return the status."""
        head = [f"{buffer.dtype.c_name} *{safe(buffer.name)} = NULL;{mark}" for buffer, mark in self.allocated.items()]
        head += [f"void *at_held[{len(self.held)}] = {{NULL}};{self.here}"] if self.held else []
        if self.uses_done:
            head.insert(0, "int status = 0;" + (" uint64_t at_units = AT_UNITS;" if self.counts else ""))
            self.lines.append("    " * (self.depth - 1) + "done:")
        self.lines[self.head_line : self.head_line] = ["    " * self.depth + line for line in head]
        for line in last or []:
            self.put(line)
        if self.held:
            self.put(f"at_free_all(at_held, {len(self.held)});")
        self.put("return status;" if self.uses_done else "return 0;")

    def call_pieces(self, name: str, chunk: lp.Chunks, params: list[tuple[str, str, str]]) -> None:
        """All pieces in one call, so that a program of many loops is many small functions: C compilers need more than linear time."""
        given = ["at", self.poly(chunk.extent), self.poly(chunk.work) if chunk.work.terms else "1"]
        given += [a for _, _, a in params] + [f"&{safe(a.var.name)}" for a in chunk.accs]
        self.uses_done = True
        self.put(f"if ((status = {name}_all({', '.join(given)})) != 0) goto done;")

    def rows_after(self, chunk: lp.Chunks) -> Rows:
        """Pieces that the matrix kernel runs, for rows it has finished."""
        used = collect(chunk.body, {chunk.low, chunk.high})
        name = f"{self.prefix}_piece{self.pieces}"
        self.pieces += 1
        params = self.params(used, chunk.body)
        fields = "".join(f" {t.replace(' *restrict', ' *')} {v};" for t, v, _ in params)
        unpack = "".join(f", at_a->{v}" for _, v, _ in params)
        with self.unit(name):
            self.piece_function(name, chunk, used)
            rows = (
                f"typedef struct {{ int64_t at_extent;{fields} }} {name}_args;\n"
                f"AT_PIECE int {name}_rows(at_call *at, void *at_context, int64_t at_low, int64_t at_high) {{\n"
                f"    const {name}_args *at_a = at_context;\n"
                f"    (void)at_a;\n"
                f"    return {name}(at, at_low, at_high{unpack});\n}}"
            )
            self.texts.append(self.whole(rows))
        name = self.unit_names[name]
        extent, args = self.poly(chunk.extent), "".join(f", {a}" for _, _, a in params)
        self.uses_done = True
        return Rows(f"{name}_rows", f"{name}_args", f"{extent}{args}", f"{extent} > 0 ? {name}(at, 0, {extent}{args}) : 0", self.poly(chunk.work) if chunk.work.terms else "1")

    def all_pieces(self, name: str, chunk: lp.Chunks, params: list[tuple[str, str, str]]) -> None:
        """A function for all pieces: at once when there is little to do, else through the runtime's pool, where a task unpacks its
        arguments and runs one piece; then what the pieces accumulated is combined."""
        partial = [f"{safe(a.var.name)}_part" for a in chunk.accs]
        pointers = [(t.replace(" *restrict", " *"), v) for t, v, _ in params]
        struct = self._task(name, chunk, pointers, partial)
        private = any(isinstance(s, lp.Alloc) and s.buffer.private for s in lp.walk(chunk.body))
        little = "at_n * at_work < 65536"
        whole = "" if chunk.accs or private else f" || {little}"
        given = "".join(f", {v}" for _, v in pointers)
        outs = [f"{safe(a.var.name)}_out" for a in chunk.accs]
        head = ["at_call *at", "int64_t at_n", "int64_t at_work", *(f"{t} {v}" for t, v in pointers)]
        head += [f"{a.var.dtype.c_name} *{out}" for a, out in zip(chunk.accs, outs, strict=True)]
        with self.function_text():
            with self.braces(f"AT_PIECE int {name}_all({', '.join(head)})"):
                if is_wide(chunk.extent):  # so that what is counted up from it is no overflow
                    self.put("if (at_n > INT64_C(1) << 62) at_n = INT64_C(1) << 62;")
                most = str(chunk.most)
                if chunk.rows:
                    most = f"at_n < {16 * chunk.rows} ? 16 : at_n < {chunk.most * chunk.rows} ? at_n / {chunk.rows} : {chunk.most}"
                self.put(f"const int64_t at_size = at_piece(at_n, at_work, {chunk.grain}, {chunk.align}, {most});")
                self.put(f"if (at_n <= at_size{whole}) return at_n > 0 ? {name}({', '.join(['at, 0, at_n' + given, *outs])}) : 0;")
                self.put("const int64_t at_pieces = (at_n + at_size - 1) / at_size;")
                for acc, p in zip(chunk.accs, partial, strict=True):
                    self.put(f"{acc.var.dtype.c_name} {p}[{chunk.most}];")
                self.put(f"{struct} at_context = {{{', '.join(['at_n, at_size, at_work' + given, *partial])}}};")
                self.put(f"const int status = at_rt->parallel(at, {name}_task, &at_context, at_pieces, at_alone(at_n * at_work));")
                if chunk.accs:
                    self.put("if (status != 0) return status;")
                for acc, p, out in zip(chunk.accs, partial, outs, strict=True):
                    self.put("for (int64_t at_w = 1; at_w < at_pieces; at_w *= 2)")
                    combined = self._combine(acc, f"{p}[at_k]", f"{p}[at_k + at_w]")
                    self.put(f"    for (int64_t at_k = 0; at_k + at_w < at_pieces; at_k += 2 * at_w) {p}[at_k] = {combined};")
                    self.put(f"*{out} = {p}[0];")
                self.put("return status;")

    def _task(self, name: str, chunk: lp.Chunks, pointers: list[tuple[str, str]], partial: list[str]) -> str:
        """What the pool calls for a piece: it unpacks the arguments and runs it. The name of the struct that they are in."""
        struct = f"{name}_args"
        fields = "".join(f" {t} {v};" for t, v in pointers)
        fields += "".join(f" {a.var.dtype.c_name} *{p};" for a, p in zip(chunk.accs, partial, strict=True))
        unpack = ", ".join(["at", "at_low", "at_high", *(f"at_a->{v}" for _, v in pointers), *(f"at_a->{p} + at_piece_number" for p in partial)])
        run, settled = f"    return {name}({unpack});\n", ""
        if _is_question(chunk):  # pieces after the answer is known have nothing to add
            answer = ("" if chunk.accs[0].monoid == "or" else "!") + f"at_a->{partial[0]}[at_piece_number]"
            known, fields = "true" if chunk.accs[0].monoid == "or" else "false", fields + " int at_known;"
            settled = f"    if (__atomic_load_n(&at_a->at_known, __ATOMIC_RELAXED)) {{ at_a->{partial[0]}[at_piece_number] = {known}; return 0; }}\n"
            run = f"    const int status = {name}({unpack});\n    if (status == 0 && {answer}) __atomic_store_n(&at_a->at_known, 1, __ATOMIC_RELAXED);\n    return status;\n"
        if _is_divided(chunk):  # a look after each part; results do not depend on where a piece ends
            unpack = unpack.replace("at_low, at_high", "at_from, at_to", 1)
            run = (
                f"    const int64_t at_step = at_stretch(at_a->at_work, {chunk.align});\n"
                f"    for (int64_t at_from = at_low, at_to; at_from < at_high; at_from = at_to) {{\n"
                f"        at_to = at_high - at_from > at_step ? at_from + at_step : at_high;\n"
                f"        const int status = {name}({unpack});\n"
                f"        if (status != 0) return status;\n"
                f"        if (at_to < at_high && at_interrupted(at)) return -2;\n    }}\n    return 0;\n"
            )
        self.texts.append(
            self.whole(
                f"typedef struct {{ int64_t at_extent, at_size, at_work;{fields} }} {struct};\n"
                f"static int {name}_task(at_call *at, void *at_context, int64_t at_piece_number) {{\n"
                f"    {struct} *at_a = at_context;\n"
                f"{settled}"
                f"    const int64_t at_low = at_piece_number * at_a->at_size;\n"
                f"    const int64_t at_high = at_low + at_a->at_size < at_a->at_extent ? at_low + at_a->at_size : at_a->at_extent;\n"
                f"{run}}}"
            )
        )
        return struct


def _is_divided(chunk: lp.Chunks) -> bool:
    """A piece that is nothing but tight loops over its indices, none of which needs another."""
    bounds = (chunk.low, chunk.high)
    loops = all(isinstance(s, lp.For) and (s.low.single(), s.high.single()) == bounds and s.parallel and not looks.looks(s.body) for s in chunk.body)
    return loops and not chunk.accs and not chunk.buffers and not chunk.rows


def _is_question(chunk: lp.Chunks) -> bool:
    """any or all, and nothing else: once one piece knows the answer, it is known."""
    if len(chunk.accs) != 1 or chunk.accs[0].monoid not in ("or", "and") or chunk.accs[0].var.dtype is not BOOL:
        return False
    return not may_fail(chunk.body) and not written_buffers(chunk.body)
