"""Counted code as C: one function per group of functions that tail-call each other, one label per member.

Every function takes the heap first. Numbers are themselves, values are words, arrays are pointers; a function of several results returns a
struct. A group with one way in has that member's parameters; one with several takes the number of the member and enough parameters of each
C type for all of them. `into` ends keep the place where the result goes in a variable of the group: the constructor is built with a hole, and
the loop goes on to fill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atoll.backends.c import ops
from atoll.backends.c.emit import safe
from atoll.errors import Span
from atoll.functions import ir
from atoll.functions.calls import Graph
from atoll.functions.closure_convert import CLOSURE
from atoll.functions.counted import (
    HOLE,
    CaseEnd,
    Code,
    CountedProgram,
    Drop,
    Dup,
    End,
    FreeToken,
    Instr,
    MakeIn,
    TailInto,
    Token,
    Unpack,
    calls,
    codes,
    declare,
    has_into,
    words,
)
from atoll.functions.emit_ops import Operators
from atoll.functions.layout import c_type, header, positions
from atoll.types.dtypes import DTYPES


def _places(instr: Instr) -> Iterable[Span]:
    """Where an instruction comes from: its operator, or the variables it is about."""
    if isinstance(instr, ir.Op) and instr.span.line:
        return (instr.span,)
    if isinstance(instr, (Dup, Drop, Unpack)):
        return (instr.var.span,)
    if isinstance(instr, FreeToken):
        return ()
    return (x.span for x in (instr.results if isinstance(instr, (ir.Op, ir.Call)) else (instr.result,)))


def _ends_with(end: End) -> ir.Vars:
    """What code ends with: a value that is looked at, handed on or returned."""
    match end:
        case CaseEnd():
            return (end.value,)
        case TailInto():
            return (end.result,)
        case ir.Ret(values):
            return values
        case ir.Tail(_, args) | ir.Jump(_, args):
            return args


class Emitter:
    """The functions of a program as C text; `operators` collects what they use."""

    def __init__(self, program: CountedProgram, graph: Graph, operators: Operators, prefix: str = "") -> None:
        self.program, self.graph, self.operators, self.prefix = program, graph, operators, prefix
        self.names: dict[ir.Var, str] = {}
        self.used: dict[str, int] = {}
        self.tokens: dict[Token, str] = {}
        self.structs: dict[tuple[ir.Rep, ...], str] = {}
        self.statics: dict[str, str] = {}
        self.lines: list[str] = []
        self.here = ""  # the mark of what is printed
        self.functions = {f: cf for f, cf in program.functions.items()}
        self.functions[program.main.fun.name] = program.main
        self.units: set[ir.Var] = set()
        self.group: tuple[ir.Var, ...] = ()
        self.destination = False
        self.entries = self._entries()
        self.joins = {name: params for cf in self.functions.values() for each in codes(cf.code) for name, params, _ in each.joins}

    # -- names and types

    def name(self, x: ir.Var) -> str:
        if x not in self.names:
            base = safe(re.sub(r"\W", "_", x.name))
            count = self.used.get(base, 0)
            self.used[base] = count + 1
            self.names[x] = f"{base}_{count}" if count or x.rep == ir.CODE else base
            if x in self.functions:
                self.names[x] = f"{self.prefix}f_{self.names[x]}"
            elif self.names[x] in ("H", "at", "status"):
                self.names[x] += "_"
        return self.names[x]

    def value(self, x: ir.Var) -> str:
        """A variable as an operand; a function as the address of its code."""
        return f"(at_value)&{self.name(x)}" if x in self.functions else self.name(x)

    def result_type(self, results: tuple[ir.Rep, ...]) -> str:
        if len(results) == 0:
            return "void"
        if len(results) == 1:
            return c_type(results[0])
        if results not in self.structs:
            self.structs[results] = f"at_results_{len(self.structs)}"
        return self.structs[results]

    def put(self, text: str) -> None:
        self.lines.append(text + self.here)

    def coming_from(self, *places: Span) -> None:
        """What is printed from now on comes from these places, where they are known."""
        marks = self.operators.marks
        self.here = self.here if marks is None else marks.mark(places) or self.here

    # -- the whole

    def text(self) -> str:
        """Prototypes and functions; call after which `statics` and `structs` are complete."""
        bodies, prototypes = [], []
        groups = [*self.graph.groups, (self.program.main.fun.name,)]
        for group in groups:
            self.lines = []
            self.emit_group(group)
            bodies.append("\n".join(self.lines))
            self.here = ""
            self.coming_from(*(self.functions[f].fun.span for f in group))
            prototypes.append(f"{self.head(group)};{self.here}")
        for group in groups:
            entries = self.entry_of(group)
            if len(entries) > 1:
                for f in entries:
                    if f in self.graph.escaping:
                        prototype, text = self.plain_entry(f)
                        prototypes.append(prototype)
                        bodies.append(text)
        structs = [
            "typedef struct { " + " ".join(f"{c_type(r)} r{k};" for k, r in enumerate(results)) + f" }} {name};"
            for results, name in self.structs.items()
        ]
        return "\n\n".join([*structs, "\n".join(prototypes), *self.statics.values(), *bodies])

    def _entries(self) -> dict[ir.Var, tuple[ir.Var, ...]]:
        """For each group (by its first member), the members that are called from outside it."""
        home = {f: g for g in self.graph.groups for f in g}
        found: dict[ir.Var, dict[ir.Var, None]] = {g[0]: {} for g in self.graph.groups}
        for f in self.graph.escaping:
            found[home[f][0]][f] = None
        for f, cf in self.functions.items():
            own = home.get(f)
            for callee, tail in calls(cf.code):
                if callee in home and not (tail and own is home[callee]):
                    found[home[callee][0]][callee] = None
        return {first: tuple(members) for first, members in found.items()}

    def entry_of(self, group: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
        return self.entries.get(group[0], group) or group[:1]

    def group_name(self, group: tuple[ir.Var, ...]) -> str:
        entries = self.entry_of(group)
        return self.name(entries[0]) if len(entries) == 1 else f"{self.name(group[0])}_group"

    def slots(self, group: tuple[ir.Var, ...]) -> list[tuple[str, str]]:
        """Parameters that fit every way into a group: (C type, name)."""
        most: dict[str, int] = {}
        for f in self.entry_of(group):
            mine: dict[str, int] = {}
            for p in self.functions[f].fun.params:
                t = c_type(p.rep)
                mine[t] = mine.get(t, 0) + 1
            for t, n in mine.items():
                most[t] = max(most.get(t, 0), n)
        return [(t, f"at_p{k}_{n}") for k, (t, count) in enumerate(most.items()) for n in range(count)]

    def place(self, f: ir.Var, group: tuple[ir.Var, ...]) -> list[int]:
        """Which slot each parameter of f goes to."""
        slots = self.slots(group)
        taken: dict[str, int] = {}
        found = []
        for p in self.functions[f].fun.params:
            t = c_type(p.rep)
            same = [k for k, (u, _) in enumerate(slots) if u == t]
            found.append(same[taken.get(t, 0)])
            taken[t] = taken.get(t, 0) + 1
        return found

    def head(self, group: tuple[ir.Var, ...]) -> str:
        entries = self.entry_of(group)
        results = self.result_type(self.functions[group[0]].fun.results)
        if len(entries) == 1:
            params = [f"{c_type(p.rep)} {self.name(p)}" for p in self.functions[entries[0]].fun.params]
        else:
            params = ["int at_member", *(f"{t} {n}" for t, n in self.slots(group))]
        depth = ["int64_t at_depth"] if self.counts_depth(group) else []
        return f"static {results} {self.group_name(group)}({', '.join(['at_heap *H', *depth, *params])})"

    def counts_depth(self, group: tuple[ir.Var, ...]) -> bool:
        """Its calls nest without needing the stack, and all of them are known."""
        return any(f in self.graph.foldable for f in group) and not any(f in self.graph.escaping for f in group)

    # -- groups

    def emit_group(self, group: tuple[ir.Var, ...]) -> None:
        self.group = group
        self.destination = any(has_into(self.functions[f].code) for f in group)
        entries = self.entry_of(group)
        self.here = ""
        self.coming_from(*(self.functions[f].fun.span for f in group))
        self.put(self.head(group) + " {")
        declared: dict[ir.Var, None] = {}
        tokens: dict[Token, None] = {}
        for f in group:
            cf = self.functions[f]
            if len(entries) > 1 or f is not entries[0]:
                declared.update(dict.fromkeys(cf.fun.params))
            declare(cf.code, declared, tokens)
        by_type: dict[str, list[str]] = {}
        for x in declared:
            by_type.setdefault(c_type(x.rep), []).append(self.name(x))
        for t, names in by_type.items():
            star = "*" if t.endswith("*") else ""
            self.put(f"    {t.rstrip('* ')} {', '.join(star + n for n in names)};")
        for token in tokens:
            self.tokens[token] = f"at_t{len(self.tokens)}"
            self.put(f"    uint64_t *{self.tokens[token]};")
        if self.destination:
            self.put("    at_value at_result = 1;")
            self.put("    uint64_t *at_to = (uint64_t *)&at_result;")
        if any(f in self.graph.deep for f in group):
            self.put("    AT_COUNT_DEPTH(H);" if self.counts_depth(group) else "    AT_DEEP(H);")
        if len(entries) > 1:
            self.emit_switch(group, entries)
        order = [entries[0], *(f for f in group if f is not entries[0])]
        for f in order:
            self.coming_from(self.functions[f].fun.span)
            if self.needs_label(f, group, entries):
                self.put(f"{self.label(f)}:;")
                self.put("    AT_DEEP(H);")
            self.emit_code(self.functions[f].code, 1)
        self.put("}")

    def label(self, f: ir.Var) -> str:
        return f"at_in_{self.name(f)}"

    def needs_label(self, f: ir.Var, group: tuple[ir.Var, ...], entries: tuple[ir.Var, ...]) -> bool:
        if len(entries) > 1:
            return True
        return any(callee is f and tail for g in group for callee, tail in calls(self.functions[g].code))

    def emit_switch(self, group: tuple[ir.Var, ...], entries: tuple[ir.Var, ...]) -> None:
        slots = self.slots(group)
        self.put("    switch (at_member) {")
        for number, f in enumerate(entries):
            moves = " ".join(
                f"{self.name(p)} = {slots[k][1]};" for p, k in zip(self.functions[f].fun.params, self.place(f, group), strict=True)
            )
            which = "default" if number == len(entries) - 1 else f"case {number}"
            self.put(f"        {which}: {moves} goto {self.label(f)};")
        self.put("    }")

    def plain_entry(self, f: ir.Var) -> tuple[str, str]:
        """A member of a group with several ways in, as code that is a value."""
        fun = self.functions[f].fun
        params = ", ".join(["at_heap *H", *(f"{c_type(p.rep)} a{k}" for k, p in enumerate(fun.params))])
        head = f"static {self.result_type(fun.results)} {self.name(f)}({params})"
        group = self.graph.group_of(f)
        slots = ["0"] * len(self.slots(group))
        for k, place in enumerate(self.place(f, group)):
            slots[place] = f"a{k}"
        call = f"{self.group_name(group)}({', '.join(['H', str(self.entry_of(group).index(f)), *slots])})"
        return f"{head};", f"{head} {{ {'return ' if fun.results else ''}{call}; }}"

    def call(self, fn: ir.Var, args: ir.Vars, results: tuple[ir.Rep, ...]) -> str:
        given = [self.value(y) for y in args]
        if fn not in self.functions:
            types = ", ".join(["at_heap *", *(c_type(y.rep) if y not in self.functions else "at_value" for y in args)])
            return f"(({self.result_type(results)} (*)({types})){self.name(fn)})({', '.join(['H', *given])})"
        group = self.graph.group_of(fn)
        entries = self.entry_of(group)
        first = ["H"]
        if self.counts_depth(group):
            first.append("at_depth + 1" if self.counts_depth(self.group) else "0")
        if len(entries) == 1:
            return f"{self.name(fn)}({', '.join([*first, *given])})"
        slots = ["0"] * len(self.slots(group))
        for text, k in zip(given, self.place(fn, group), strict=True):
            slots[k] = text
        return f"{self.group_name(group)}({', '.join([*first, str(entries.index(fn)), *slots])})"

    # -- code

    def emit_code(self, code: Code, depth: int) -> None:
        pad = "    " * depth
        for instr in code.instrs:
            self.coming_from(*_places(instr))
            for line in self.instr(instr):
                self.put(pad + line)
        self.emit_end(code, depth)
        for name, _, inner in code.joins:
            self.put(f"{self.name(name)}:;")
            self.emit_code(inner, depth)

    def instr(self, instr: Instr) -> Iterable[str]:
        match instr:
            case ir.Literal(x, value):
                return [f"{self.name(x)} = {ops.literal(value, DTYPES[x.rep])};"]
            case ir.Take(x, value, con, index):
                return [f"{self.name(x)} = {self.field(self.name(value), con, index)};"]
            case ir.Op(results, op, args):
                return self.operators.emit(op, [self.name(r) for r in results], [self.value(a) for a in args], args)
            case ir.Call(results, fn, args):
                return self.assign(results, self.call(fn, args, tuple(r.rep for r in results)))
            case MakeIn():
                return self.make(instr)
            case Dup(x):
                return [f"{'at_dup' if x.rep == ir.DATA else 'at_dup_array'}({self.name(x)});"]
            case Drop(x):
                return [f"{'at_drop' if x.rep == ir.DATA else 'at_drop_array'}(H, {self.name(x)});"]
            case Unpack():
                return self.unpack(instr)
            case FreeToken(token):
                t = self.tokens[token]
                return [f"if ({t}) at_free_cell(H, {t}, {token.words});"]

    def assign(self, results: ir.Vars, call: str) -> list[str]:
        if len(results) == 0:
            return [f"{call};"]
        if len(results) == 1:
            return [f"{self.name(results[0])} = {call};"]
        t = self.result_type(tuple(r.rep for r in results))
        moves = " ".join(f"{self.name(r)} = at_got.r{k};" for k, r in enumerate(results))
        return [f"{{ {t} at_got = {call}; {moves} }}"]

    def cell(self, x: str, con: ir.Constructor) -> str:
        return f"AT_CELL({x} & ~(at_value)1)" if con is CLOSURE else f"AT_CELL({x})"

    def field(self, x: str, con: ir.Constructor, index: int) -> str:
        """Reading a field, as its type."""
        rep = con.fields[index]
        word = f"{self.cell(x, con)}[{positions(con)[index] + 1}]"
        if rep == ir.ARRAY:
            return f"(at_array *){word}"
        if rep in (ir.DATA, ir.CODE):
            return word
        dtype = DTYPES[rep]
        if dtype.is_float or dtype.is_complex:
            return f"*({dtype.c_name} *)&{word}"
        return f"({dtype.c_name}){word}"

    def store(self, cell: str, con: ir.Constructor, index: int, y: ir.Var) -> str:
        rep = con.fields[index]
        word = f"{cell}[{positions(con)[index] + 1}]"
        if rep in DTYPES and (DTYPES[rep].is_float or DTYPES[rep].is_complex):
            return f"*({DTYPES[rep].c_name} *)&{word} = {self.value(y)};"
        return f"{word} = (uint64_t){self.value(y)};"

    def make(self, instr: MakeIn) -> list[str]:
        x, con = self.name(instr.result), instr.con
        if not con.fields:
            if con.data is ir.BOOL:
                return [f"{x} = {'true' if con is ir.TRUE else 'false'};"]
            if con is ir.UNIT:
                self.units.add(instr.result)
            return [f"{x} = {2 * con.tag + 1};"]
        if con is CLOSURE and instr.args[1] in self.units:
            return [f"{x} = (at_value){self.static_closure(instr.args[0])} + 1;"]
        n = words(con)
        if instr.token is not None:
            t = self.tokens[instr.token]
            lines = [f"{{ uint64_t *at_c = {t} ? {t} : at_cell(H, {n});"]
        else:
            lines = [f"{{ uint64_t *at_c = at_cell(H, {n});"]
        if con is CLOSURE:
            lines.append("  AT_CLOSURE_MADE(H);")
        lines.append(f"  at_c[0] = {header(con)};")
        lines += [f"  {self.store('at_c', con, k, y)}" for k, y in enumerate(instr.args) if y is not HOLE]
        lines += [f"  at_c[{positions(con)[k] + 1}] = 1;" for k, y in enumerate(instr.args) if y is HOLE]
        lines.append(f"  {x} = (at_value)at_c; }}")
        return lines

    def static_closure(self, code: ir.Var) -> str:
        name = f"at_static_{self.name(code)}"
        if name not in self.statics:
            code_at, env_at = positions(CLOSURE)[0], positions(CLOSURE)[1]
            words_ = {code_at: f"(uint64_t)&{self.name(code)}", env_at: "1"}
            self.statics[name] = f"static uint64_t {name}[] = {{{header(CLOSURE)}, {words_[0]}, {words_[1]}}};"
        return name

    def unpack(self, u: Unpack) -> list[str]:
        x, con = self.name(u.var), u.con
        kept = {index for index, _ in u.kept}
        token = self.tokens[u.token] if u.token is not None else None
        whole = f"AT_IS_CELL({x}) && " if con is CLOSURE else ""
        lines = [f"if ({whole}AT_COUNT({x}) == 1) {{"]
        for k, rep in enumerate(con.fields):
            if k not in kept and rep in (ir.DATA, ir.ARRAY):
                how = "at_drop" if rep == ir.DATA else "at_drop_array"
                lines.append(f"    {how}(H, {self.field(x, con, k)});")
        lines.append(f"    {token} = AT_CELL({x});" if token else f"    at_free_cell(H, AT_CELL({x}), {words(con)});")
        lines.append("} else {")
        lines += [f"    {'at_dup' if y.rep == ir.DATA else 'at_dup_array'}({self.name(y)});" for _, y in u.kept]
        lines.append(f"    at_drop(H, {x});" if con is CLOSURE else f"    AT_COUNT({x})--;")
        if token:
            lines.append(f"    {token} = NULL;")
        lines.append("}")
        return lines

    # -- ends

    def emit_end(self, code: Code, depth: int) -> None:
        pad = "    " * depth
        before = self.here
        self.coming_from(*(x.span for x in _ends_with(code.end)))
        match code.end:
            case ir.Ret(values):
                self.put(pad + self.returned(values))
            case ir.Jump(join, args):
                self.move(self.joins[join], args, pad)
                self.put(f"{pad}goto {self.name(join)};")
            case ir.Tail(fn, args):
                self.tail(fn, args, pad)
            case TailInto():
                self.into(code.end, pad)
            case CaseEnd():
                self.case(code.end, depth)
        self.here = before

    def returned(self, values: ir.Vars) -> str:
        if self.destination:
            return f"*at_to = {self.value(values[0])}; return at_result;"
        if len(values) == 0:
            return "return;"
        if len(values) == 1:
            return f"return {self.value(values[0])};"
        t = self.result_type(self.functions[self.group[0]].fun.results)
        return f"return ({t}){{{', '.join(map(self.value, values))}}};"

    def move(self, params: ir.Vars, args: ir.Vars, pad: str) -> None:
        """Parallel assignment."""
        moves = [(p, y) for p, y in zip(params, args, strict=True) if p is not y]
        targets = {p for p, _ in moves}
        if not any(y in targets for _, y in moves):
            for p, y in moves:
                self.put(f"{pad}{self.name(p)} = {self.value(y)};")
            return
        ordered: list[tuple[ir.Var, ir.Var]] = []
        left = list(moves)
        while left:  # a target nobody reads any more can be written
            free = next((m for m in left if not any(y is m[0] for p, y in left if p is not m[0])), None)
            if free is None:
                break
            ordered.append(free)
            left.remove(free)
        for p, y in ordered:
            self.put(f"{pad}{self.name(p)} = {self.value(y)};")
        if left:
            saves = " ".join(f"{c_type(p.rep)} at_m{k} = {self.value(y)};" for k, (p, y) in enumerate(left))
            writes = " ".join(f"{self.name(p)} = at_m{k};" for k, (p, _) in enumerate(left))
            self.put(f"{pad}{{ {saves} {writes} }}")

    def tail(self, fn: ir.Var, args: ir.Vars, pad: str) -> None:
        if fn in self.group:
            self.move(self.functions[fn].fun.params, args, pad)
            self.put(f"{pad}goto {self.label(fn)};")
            return
        results = self.functions[self.group[0]].fun.results
        call = self.call(fn, args, results)
        if self.destination:
            self.put(f"{pad}*at_to = {call}; return at_result;")
        elif results:
            self.put(f"{pad}return {call};")
        else:
            self.put(f"{pad}{call}; return;")

    def into(self, end: TailInto, pad: str) -> None:
        holder = f"AT_CELL({self.name(end.holder)}) + {positions(end.con)[end.index] + 1}"
        self.put(f"{pad}*at_to = {self.name(end.result)};")
        self.put(f"{pad}at_to = {holder};")
        self.tail(end.fn, end.args, pad)

    def case(self, end: CaseEnd, depth: int) -> None:
        pad = "    " * depth
        x = self.name(end.value)
        branches = end.branches
        data = branches[0][0].data
        if len(branches) == 1:
            self.emit_code(branches[0][1], depth)
            return
        if data is ir.BOOL:
            yes = next(c for con, c in branches if con is ir.TRUE)
            no = next(c for con, c in branches if con is ir.FALSE)
            self.put(f"{pad}if ({x}) {{")
            self.emit_code(yes, depth + 1)
            self.put(f"{pad}}} else {{")
            self.emit_code(no, depth + 1)
            self.put(f"{pad}}}")
            return
        if len(branches) == 2:
            (first, a), (second, b) = branches
            if not first.fields:
                test = f"{x} == {2 * first.tag + 1}"
            elif not second.fields:
                test = f"{x} != {2 * second.tag + 1}"
            else:
                test = f"AT_TAG({x}) == {first.tag}"
            self.put(f"{pad}if ({test}) {{")
            self.emit_code(a, depth + 1)
            self.put(f"{pad}}} else {{")
            self.emit_code(b, depth + 1)
            self.put(f"{pad}}}")
            return
        cells = [con for con, _ in branches if con.fields]
        if not cells:
            tag = f"{x} >> 1"
        elif len(cells) == len(branches):
            tag = f"AT_TAG({x})"
        else:
            tag = f"AT_IS_CELL({x}) ? AT_TAG({x}) : (int)({x} >> 1)"
        self.put(f"{pad}switch ({tag}) {{")
        for con, inner in branches:
            self.put(f"{pad}case {con.tag}: {{")
            self.emit_code(inner, depth + 1)
            self.put(f"{pad}}}")
        self.put(f"{pad}default: __builtin_unreachable();")
        self.put(f"{pad}}}")
