"""What a certificate is about: this program, this C. `atoll prove FILE.cert --program FILE.py:NAME --c FILE.c`.

The checker (prove.py) knows neither. Here the source term is made again from the program's text, by the front end, and compared with the
certificate's up to the names of binders; and the certificate's loops are read back, with arguments and results in the places the
program gives them, and printed by the C printer, whose text must be the file's. What stays on trust then is the front end and the printer,
not whoever wrote the certificate. This file may import the compiler; prove.py may not, and does not import this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.backends.c.jit import generate
from atoll.check.certificate import subject
from atoll.check.compiled import make_data, without_loops
from atoll.check.loops import Reader
from atoll.check.rewrites.chain import Chain
from atoll.check.sums import Poly as CheckedPoly
from atoll.check.sums import Quotient, Rejected, Tables, need
from atoll.check.terms import Terms, alike
from atoll.core.needs import needs_functions
from atoll.loops import ir as lp
from atoll.loops.optimise import PASSES
from atoll.schedule.api import schedule
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import DTYPES, DType

if TYPE_CHECKING:
    from atoll.function import Function
    from atoll.madl.api import Operator
    from atoll.schedule.api import Schedule


def about_program(data: dict[str, Any], s: Schedule) -> str:
    """That the certificate's source term is that of a function (`at.schedule(f)`); Rejected when it is of another."""
    mine = subject(s)
    for part, what in (("digest", "text"), ("sizes", "sizes"), ("constants", "constants"), ("forbidden", "licences")):
        need(data[part] == mine[part], f"it is about another program than {s.name}: other {what}")
    theirs, ours = Tables(data), Tables(mine)
    need([[x, d, theirs.polys(e)] for x, d, e, _ in data["arrays"]] == [[x, d, ours.polys(e)] for x, d, e, _ in mine["arrays"]], "other arguments")
    need(theirs.polys(data["facts"]) == ours.polys(mine["facts"]), f"it assumes other facts than {s.name} does")
    need(alike(Terms(theirs).term(data["source"]), Terms(ours).term(mine["source"]), {}), f"it is about another program than {s.name}")
    return f"  the source term is that of {s.name}, made again from its text"


def about_compile(data: dict[str, Any], f: Function, text: str | None) -> list[str]:
    """That the loops of a compile's certificate are those of a function, made again from its text; and that a C text is what the last of them are printed as."""
    regroups = {p.name: p.regroups for p in PASSES}
    mine = without_loops(f.core) if needs_functions(f.core) else make_data(f.core, bounded=False)
    need(data["digest"] == mine["digest"] and data["sizes"] == mine["sizes"], f"it is about another program than {f.name}: other text")
    need(data["reassociate"] is mine["reassociate"], f"it gives a licence to regroup sums that {f.name} does not, or not the other way round")
    theirs, ours = Chain(data), Chain(mine)
    need(all(r.get("regroups", False) is regroups[r["name"]] for r in data["rewrites"] if r["status"] == "proved"), "a rewrite that regroups is said not to, or the other way round")
    need([r["name"] for r in data["rewrites"]] == [r["name"] for r in mine["rewrites"]], "other rewrites")
    need(theirs.kinds == ours.kinds and theirs.results == ours.results and theirs.kinds.constants == ours.kinds.constants and theirs.kinds.extents == ours.kinds.extents, f"other arguments or results than those of {f.name}")
    pairs = [(data["lowered"], mine["lowered"]), *((a["after"], b["after"]) for a, b in zip(data["rewrites"], mine["rewrites"], strict=True))]
    for k, (a, b) in enumerate(pairs):
        need(theirs.reader.body(a) == ours.reader.body(b), f"its loops are other ones than those of {f.name}, after {k} rewrites")
    lines = [f"  the loops are those of {f.name}, made again from its text, before and after every rewrite"]
    inner = data["source"]["certificate"]
    if inner is not None:
        lines.append(about_program(inner, schedule(f)))
    _same_text(f.show("c"), data["c"]["text"])
    if text is not None:
        _same_text(f.show("c"), text)
        lines.append("  the C is what the last loops are printed as")
    return lines


def about_operator(data: dict[str, Any], operator: Operator, text: str | None) -> list[str]:
    """That a certificate is of an operator of MADL: its text, and the C that is made of it."""
    mine = operator.certificate().data
    need("rewrites" in data and data["program"] == mine["program"] and data["digest"] == mine["digest"], f"it is about another program than {operator.name}: other text")
    _same_text(mine["c"]["text"], data["c"]["text"])
    lines = [f"  the text is that of {operator.name}, and the C is made of it again"]
    if text is not None:
        _same_text(mine["c"]["text"], text)
        lines.append("  the C is what it is printed as")
    return lines


def about_c(data: dict[str, Any], s: Schedule, text: str) -> str:
    """That a C file is what the certificate's loops are printed as; Rejected when it is not."""
    _same_text(c_of(data, s), text)
    return "  the C is what these loops are printed as"


def _same_text(made: str, text: str) -> None:
    if _lines(made) != _lines(text):
        pairs = zip(_lines(made), _lines(text), strict=False)
        first = next((theirs for mine, theirs in pairs if mine != theirs), "it ends earlier or later")
        raise Rejected(f"the C is not printed from these loops: {first[:100]}")


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def c_of(data: dict[str, Any], s: Schedule) -> str:
    """The C of a certificate's loops, as a function of the program's arguments."""
    plain = s.lowered.function
    body = _Decoder(data, plain).body()
    fn = lp.Function(plain.name, plain.sizes, plain.inputs, plain.outputs, body, plain.consts, plain.sites)
    return generate(s.function.core, fn).text


class _Decoder:
    """Loops of a certificate, as checked by prove.py, as loops of the compiler."""

    def __init__(self, data: dict[str, Any], plain: lp.Function) -> None:
        self.data = data
        self.syms: dict[str, Atom] = {sym.name: sym for sym in plain.sizes}
        self.buffers: dict[str, lp.Buffer] = {o.buffer.name: o.buffer for o in plain.outputs}
        self.vars: dict[str, lp.Var] = {}
        for x in (*plain.inputs, *plain.consts):
            if isinstance(x, lp.Buffer):
                self.buffers[x.name] = x
            else:
                self.vars[x.name] = x
        self.syms |= {size: self.vars[name].atom for size, name in data["params"] if name in self.vars}

    def body(self) -> list[lp.Stmt]:
        tables = Tables(self.data)
        self.work = {name: tables.poly(k) for name, k in self.data["loops"]["work"]}
        return self.stmts(Reader(tables).stmts(self.data["loops"]["body"]))

    def poly(self, p: CheckedPoly) -> Poly:
        total = poly(0)
        for monomial, c in p:
            term = poly(c)
            for x in monomial:
                term = term * (self.poly(x.num) // self.poly(x.den) if isinstance(x, Quotient) else poly(self.sym(x)))
            total = total + term
        return total

    def sym(self, name: str) -> Atom:
        if name not in self.syms:
            self.syms[name] = Sym(name.split("#")[0])
        return self.syms[name]

    def many(self, ps: Any) -> tuple[Poly, ...]:
        return tuple(self.poly(p) for p in ps)

    def dtype(self, name: str) -> DType:
        return DTYPES[name]

    def stmts(self, stmts: Any) -> list[lp.Stmt]:
        return [self.stmt(x) for x in stmts]

    def stmt(self, x: Any) -> lp.Stmt:
        match x[0]:
            case "for":
                return self.loop(x)
            case "if":
                return lp.If(self.tests(x[1]), self.stmts(x[2]), self.stmts(x[3]))
            case "store":
                return lp.Store(self.buffers[x[1]], self.many(x[2]), self.expr(x[3]))
            case "update":
                return lp.Update(self.buffers[x[1]], self.many(x[2]), x[3], self.expr(x[4]))
            case "set" | "declare":
                made = self.vars[x[1]] = lp.Var(x[1], self.dtype(x[2]))
                self.syms[x[1]] = made.atom
                value = None if x[3] is None else self.expr(x[3])
                return lp.Let(made, value) if x[0] == "set" and value is not None else lp.Declare(made, value)
            case "assign":
                return lp.Assign(self.vars[x[1]], self.expr(x[2]))
            case "alloc":
                buffer = self.buffers[x[1]] = lp.Buffer(x[1], self.dtype(x[2]), self.many(x[3]), "temp")
                buffer.local, buffer.rows = x[4], x[5]
                return lp.Alloc(buffer)
            case "free":
                return lp.Free(self.buffers[x[1]])
        raise Rejected("the program has opaque parts, whose C is not in the certificate: it can not be compared")

    def loop(self, x: Any) -> lp.Stmt:
        _, name, low, high, (parallel, vector, unroll, pieces), body = x
        sym = self.sym(name)
        assert isinstance(sym, Sym)
        start, end = self.poly(low), self.poly(high)
        inside = self.stmts(body)
        if not pieces:
            return lp.For(sym, start, end, inside, parallel, vector, bool(unroll))
        first, last = Sym(f"{sym.name}_lo"), Sym(f"{sym.name}_hi")
        made = lp.For(sym, start + poly(first), start + poly(last), inside, parallel, vector, bool(unroll))
        return lp.Chunks(first, last, end - start, self.poly(self.work[name]), [made])

    def tests(self, tests: Any) -> tuple[lp.Test, ...]:
        return tuple(lp.Test(kind, None if p is None else self.poly(p), None if e is None else self.expr(e)) for kind, p, e in tests)

    def expr(self, e: Any) -> lp.Expr:
        match e[0]:
            case "use":
                return lp.Use(self.vars[e[1]])
            case "const":
                return lp.Const(_number(e[1]), self.dtype(e[2]))
            case "index":
                return lp.Index(self.poly(e[1]))
            case "load":
                return lp.Load(self.buffers[e[1]], self.many(e[2]))
            case "call":
                return lp.Call(e[1], tuple(map(self.expr, e[2])), self.dtype(e[3]))
            case "cast":
                return lp.Cast(self.expr(e[1]), self.dtype(e[2]))
            case "choose":
                return lp.Choose(self.tests(e[1]), self.expr(e[2]), self.expr(e[3]))
        return lp.Truth(self.tests(e[1]))


def _number(text: str) -> Any:
    """A constant as prove.py keeps it: the repr of the JSON value."""
    import ast

    value = ast.literal_eval(text)
    if isinstance(value, dict) and "c" in value:
        return complex(*(float.fromhex(part["f"]) for part in value["c"]))
    return float.fromhex(value["f"]) if isinstance(value, dict) else value
