"""The C file of a λANF program: support code, the heap, kernels, functions, tables of data types, the way in.

    int atoll_call(at_call *, at_exchange *)     run on arguments as words and arrays; 0, or what failed
    void atoll_done(at_exchange *)               give the results' memory back
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.ainf.ir import Site
from atoll.backends.c import vector_math
from atoll.backends.c.headers import HEAD
from atoll.backends.c.jit import ALONE, MACROS, abi
from atoll.backends.c.prelude import needed
from atoll.backends.c.sort import sorts
from atoll.errors import NOWHERE
from atoll.functions import ir
from atoll.functions.calls import graph
from atoll.functions.closure_convert import CLOSURE
from atoll.functions.count import count
from atoll.functions.counted import words
from atoll.functions.emit import Emitter
from atoll.functions.emit_ops import Operators
from atoll.functions.exchange import Tables
from atoll.functions.layout import c_type, counted_fields, positions
from atoll.loops import ir as lp
from atoll.origins import Marks
from atoll.types.dtypes import DTYPES

if TYPE_CHECKING:
    from atoll.functions.modules import Unit

Signature = tuple[tuple[ir.Rep, ...], tuple[ir.Rep, ...]]

_NATIVE = Path(__file__).parent / "native"


@dataclass
class Generated:
    """A C file, the places that can fail, and what is printed."""

    text: str
    sites: list[Site]
    kinds: list[str]
    prints: list[lp.Print]


def generate(program: ir.Program, tables: Tables, counters: bool = False, reuse: bool = True, units: Sequence[Unit] = (), marks: Marks | None = None) -> Generated:
    """The file for a closed program whose parameters and results are exchanged as `tables` says; `units` are linked to it."""
    code = _Code(program, reuse, marks)
    run = _run(code.main, code.emitter, tables)
    sites, prints = len(code.operators.sites), len(code.operators.prints)
    starts = []
    for u in units:
        starts.append(f"void at_m_{u.name}_init(const at_runtime *, int, int);")
        starts.append(f"static void at_start_{u.name}(const at_runtime *rt) {{ at_m_{u.name}_init(rt, {sites}, {prints}); }}")
        sites, prints = sites + len(u.sites), prints + len(u.prints)
    begin = " ".join(f"at_start_{u.name}(rt);" for u in units)
    entry = [
        (_NATIVE / "entry.h").read_text(),
        _tables(tables),
        run,
        *starts,
        f"void atoll_init(const at_runtime *rt) {{ at_rt = rt; {begin} }}",
    ]
    return code.generated("#define AT_COUNTERS 1" if counters else "", entry)


def generate_module(program: ir.Program, exported: Sequence[tuple[str, Signature]], name: str) -> Generated:
    """The file of a module: the block's results are the functions, each of which gets a C name."""
    code = _Code(program, True)
    entries = {}
    for bind in code.main.body.binds:
        if isinstance(bind, ir.Make) and bind.con is CLOSURE:
            entries[bind.result] = bind.args[0]
    assert isinstance(code.main.body.term, ir.Ret)
    outs = []
    for (symbol, (params, results)), closure in zip(exported, code.main.body.term.values, strict=True):
        given = ", ".join(["at_heap *H", *(f"{c_type(rep)} a{k}" for k, rep in enumerate(params))])
        passed = ", ".join(["H", "1", *(f"a{k}" for k in range(len(params)))])
        entry = code.emitter.name(entries[closure])
        t = code.emitter.result_type(results)
        outs.append(f"{t} {symbol}({given}) {{ {'return ' if results else ''}{entry}({passed}); }}")
    begin = f"void at_m_{name}_init(const at_runtime *rt, int sites, int prints) {{ at_rt = rt; at_site_base = sites; at_print_base = prints; }}"
    return code.generated("#define AT_MODULE 1", [*outs, begin])


class _Code:
    """The functions of a closed program as C."""

    def __init__(self, program: ir.Program, reuse: bool, marks: Marks | None = None) -> None:
        binds = program.block.binds
        bundle = binds[0].bundle if binds and isinstance(binds[0], ir.Funs) else ()
        body = ir.Block(binds[1:], program.block.term) if bundle else program.block
        functions = {f.name: f for f in bundle}
        self.main = ir.Fun(ir.Var("main", ir.CODE), program.params, body, program.results, False, body.term.fn.span if isinstance(body.term, ir.Tail) else NOWHERE)
        calls = graph(functions, body)
        self.operators = Operators(marks)
        self.emitter = Emitter(count(functions, self.main, calls, reuse), calls, self.operators)
        self.text = self.emitter.text()

    def generated(self, define: str, rest: list[str]) -> Generated:
        operators = self.operators
        native = "\n\n".join([*operators.texts, self.text, *rest])
        sorting = sorts(native, True)
        support = "\n\n".join([*needed("\n".join([native, *sorting])), *sorting])
        head = [HEAD, abi(), ALONE + MACROS, vector_math.declarations(native + support), support, define, (_NATIVE / "heap.h").read_text()]
        parts = [*head, *operators.texts, self.text, *rest]
        return Generated("\n\n".join(p for p in parts if p) + "\n", operators.sites, operators.kinds, operators.prints)


def _tables(tables: Tables) -> str:
    """How to read and write values of every union that crosses."""
    lines = []
    rows = []
    for number, data in enumerate(tables.types):
        cases = []
        for con in data.constructors:
            leaves = []
            for k, rep in enumerate(con.fields):
                kind, type_, item = tables.leaf(con, k)
                leaves.append(f"{{{kind}, {positions(con)[k]}, {type_}, {item}}}")
                del rep
            name = f"at_leaves_{number}_{con.tag}"
            if leaves:
                lines.append(f"static const at_leaf {name}[] = {{{', '.join(leaves)}}};")
            cases.append(f"{{{words(con)}, {counted_fields(con)}, {len(leaves)}, {name if leaves else 'NULL'}}}")
        lines.append(f"static const at_case at_cases_{number}[] = {{{', '.join(cases)}}};")
        rows.append(f"{{{len(cases)}, at_cases_{number}}}")
    lines.append(f"static const at_type at_types[] = {{{', '.join(rows) or '{0, NULL}'}}};")
    return "\n".join(lines)


def _run(main: ir.Fun, emitter: Emitter, tables: Tables) -> str:
    lines = ["static void at_run(at_heap *H, at_exchange *x, at_reader *r, at_writer *w) {", "    (void)x; (void)r; (void)w;"]
    names = []
    for k, (p, (type_, item)) in enumerate(zip(main.params, tables.params, strict=True)):
        name = f"a{k}"
        names.append(name)
        lines.append(f"    {c_type(p.rep)} {name};")
        if p.rep == ir.DATA:
            lines.append(f"    {name} = at_read_value(H, r, at_types, {type_});")
        elif p.rep == ir.ARRAY:
            lines.append(f"    {name} = at_read_array(H, r, {item});")
        elif p.rep == "c128":
            lines.append(f"    memcpy(&{name}, r->next, 16); r->next += 2;")
        elif DTYPES[p.rep].is_float or DTYPES[p.rep].is_complex:
            lines.append(f"    memcpy(&{name}, r->next++, sizeof {name});")
        else:
            lines.append(f"    {name} = ({c_type(p.rep)})*r->next++;")
    call = f"{emitter.name(main.name)}({', '.join(['H', *names])})"
    results = main.results
    if len(results) == 0:
        lines.append(f"    {call};")
    elif len(results) == 1:
        lines.append(f"    {c_type(results[0])} r0 = {call};")
    else:
        lines.append(f"    {emitter.result_type(results)} got = {call};")
    for k, (rep, (type_, _)) in enumerate(zip(results, tables.results, strict=True)):
        name = "r0" if len(results) == 1 else f"got.r{k}"
        if rep == ir.DATA:
            lines.append(f"    at_write_value(H, w, at_types, {name}, {type_});")
        elif rep == ir.ARRAY:
            lines.append(f"    at_write_array(H, w, {name});")
        elif rep == "c128":
            lines.append(f"    {{ int64_t both[2]; memcpy(both, &{name}, 16); at_write(H, w, both[0]); at_write(H, w, both[1]); }}")
        elif DTYPES[rep].is_float or DTYPES[rep].is_complex:
            lines.append(f"    {{ int64_t word = 0; memcpy(&word, &{name}, sizeof {name}); at_write(H, w, word); }}")
        else:
            lines.append(f"    at_write(H, w, (int64_t){name});")
    lines.append("#ifdef AT_COUNTERS")
    for k, rep in enumerate(results):
        name = "r0" if len(results) == 1 else f"got.r{k}"
        if rep in (ir.DATA, ir.ARRAY) and k < 64:
            lines.append(f"    H->roots[H->root_count++] = (at_value){name};")
    lines += ["#endif", "}"]
    return "\n".join(lines)
