"""From lark's tree to syntax: a method per rule of the grammar. Tokens are among the children, so every node knows its place."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from atoll.errors import Source, Span
from atoll.futhark import syntax as s
from atoll.futhark.literals import characters, number, text_bytes
from atoll.futhark.operators import Chain, resolve


class _List(list[Any]):
    """Several things of a rule, with their place."""

    span: Span


class Reader:
    def __init__(self, source: Source) -> None:
        self.source = source

    def transform(self, tree: Tree[Token]) -> Any:
        """Children before their parents, without calls inside calls: a text may be nested as deep as it is long."""
        made: list[Any] = []  # of each tree that is open, what its children have become
        around: list[tuple[Tree[Token], int]] = []  # trees that are open, and how many children each has had
        at, child = tree, 0
        made.append([])
        while True:
            children = at.children
            while child < len(children) and not isinstance(children[child], Tree):
                made[-1].append(children[child])
                child += 1
            if child < len(children):
                around.append((at, child))
                at, child = children[child], 0  # type: ignore[assignment]
                made.append([])
                continue
            value = getattr(self, at.data)(made.pop())
            if not around:
                return value
            made[-1].append(value)
            at, child = around.pop()
            child += 1

    # -- helpers

    def token_span(self, t: Token) -> Span:
        return Span(self.source, t.line or 1, (t.column or 1) - 1, t.end_line or 1, (t.end_column or 1) - 1)

    def span(self, children: Any) -> Span:
        found = [c for c in children if isinstance(c, (Token, s.Node)) or (isinstance(c, (_List, Chain)) and c)]
        if not found:
            return Span(self.source, 1, 0, 1, 0)
        first, last = (self.token_span(c) if isinstance(c, Token) else c.span for c in (found[0], found[-1]))
        return Span(self.source, first.line, first.column, last.end_line, last.end_column)

    def nodes(self, children: Any) -> list[Any]:
        return [c for c in children if not isinstance(c, Token)]

    def names(self, children: Any, kind: str = "NAME") -> list[str]:
        return [str(c) for c in children if isinstance(c, Token) and c.type == kind]

    def listed(self, c: Any) -> _List:
        made = _List(self.nodes(c))
        made.span = self.span(c)
        return made

    # -- declarations

    def start(self, c: Any) -> list[Any]:
        return list(c)

    def defword(self, c: Any) -> Any:
        return c[0]

    def def_(self, c: Any) -> s.Def:
        return s.Def(c[1].name, str(c[0]) == "entry", c[2], c[3], c[4].value, c[-1], span=c[1].span)

    def def_infix(self, c: Any) -> s.Def:
        return s.Def(c[2].name[-1], str(c[0]) == "entry", [], [c[1], c[3]], c[4].value, c[-1], span=c[2].span)

    def bindingid(self, c: Any) -> s.PName:
        if len(c) == 1:
            return s.PName(str(c[0]), span=self.span(c))
        return s.PName(c[1].name[-1], span=self.span(c))

    def bindop(self, c: Any) -> s.Var:
        return s.Var((str(c[len(c) // 2]),), span=self.span(c))

    def ascription(self, c: Any) -> Any:
        return _Maybe(c[1] if c else None)

    sigascription = simplesig = lamresult = loopinit = ascription

    def params(self, c: Any) -> _List:
        return self.listed(c)

    params1 = typarams = localparams = pats = types = exps = fieldtypes = fieldpats = fields = dims = params

    def typeabbr(self, c: Any) -> s.TypeDef:
        return s.TypeDef(str(c[2]), c[1], c[3], c[5], span=self.token_span(c[2]))

    def lifted(self, c: Any) -> str:
        return str(c[0]) if c else ""

    def size_param(self, c: Any) -> s.TypeParam:
        return s.TypeParam(str(c[1]), "size", span=self.span(c))

    def type_param(self, c: Any) -> s.TypeParam:
        return s.TypeParam(str(c[1]), {"'": "type", "'~": "lifted size", "'^": "lifted"}[str(c[0])], span=self.span(c))

    def open_dec(self, c: Any) -> s.OpenDec:
        return s.OpenDec(c[1], span=self.span(c))

    def import_dec(self, c: Any) -> s.Import:
        return s.Import(str(c[1])[1:-1], span=self.span(c))

    def local_dec(self, c: Any) -> s.Local:
        return s.Local(c[1], span=self.span(c))

    def attr_dec(self, c: Any) -> Any:
        return c[1]

    # -- modules

    def sigdef(self, c: Any) -> s.SigDef:
        return s.SigDef(str(c[2]), c[4], span=self.span(c[:3]))

    def moddef(self, c: Any) -> s.ModDef:
        params = [p for p in c if isinstance(p, tuple)]
        return s.ModDef(str(c[1]), params, c[2 + len(params)].value, c[-1], span=self.span(c[:2]))

    def modparam(self, c: Any) -> tuple[str, Any]:
        return str(c[1]), c[3]

    def mod_ascribe(self, c: Any) -> s.MAscribe:
        return s.MAscribe(c[0], c[2], span=self.span(c))

    def mod_lambda(self, c: Any) -> s.MLambda:
        return s.MLambda(c[1][0], c[1][1], c[2].value, c[4], span=self.span(c))

    def mod_import(self, c: Any) -> s.MImport:
        return s.MImport(str(c[1])[1:-1], span=self.span(c))

    def mod_apply(self, c: Any) -> s.MApply:
        return s.MApply(c[0], c[1], span=self.span(c))

    def mod_name(self, c: Any) -> s.MName:
        return s.MName(c[0].name, span=c[0].span)

    def mod_decs(self, c: Any) -> s.MDecs:
        return s.MDecs(self.nodes(c), span=self.span(c))

    def sig_name(self, c: Any) -> s.SName:
        return s.SName(c[0].name, span=c[0].span)

    def sig_specs(self, c: Any) -> s.SSpecs:
        return s.SSpecs(self.nodes(c), span=self.span(c))

    def sig_named_arrow(self, c: Any) -> s.SArrow:
        return s.SArrow(str(c[1]), c[3], c[6], span=self.span(c))

    def sig_arrow(self, c: Any) -> s.SArrow:
        return s.SArrow(None, c[0], c[2], span=self.span(c))

    def sig_with(self, c: Any) -> s.SWith:
        return s.SWith(c[0], c[2].name, c[3], c[5], span=self.span(c))

    def val_spec(self, c: Any) -> s.ValSpec:
        return s.ValSpec(c[1].name, c[2], c[4], span=c[1].span)

    def specname(self, c: Any) -> s.PName:
        name = next((n.name[-1] for n in c if isinstance(n, s.Var)), None)
        return s.PName(name if name is not None else str(c[0]), span=self.span(c))

    def type_spec(self, c: Any) -> s.TypeDef:
        return s.TypeDef(str(c[2]), c[1], c[3], None, span=self.span(c[:3]))

    def mod_spec(self, c: Any) -> s.ModSpec:
        return s.ModSpec(str(c[1]), c[3], span=self.span(c))

    def include_spec(self, c: Any) -> s.Include:
        return s.Include(c[1], span=self.span(c))

    # -- types

    def named_arrow(self, c: Any) -> s.TArrow:
        return s.TArrow(str(c[1]), c[3], c[6], span=self.span(c))

    def arrow(self, c: Any) -> s.TArrow:
        return s.TArrow(None, c[0], c[2], span=self.span(c))

    def exists(self, c: Any) -> s.TExists:
        return s.TExists(c[1], c[3], span=self.span(c))

    def exdims(self, c: Any) -> list[str]:
        return self.names(c)

    def unique(self, c: Any) -> s.TUnique:
        return s.TUnique(c[1], span=self.span(c))

    def sums(self, c: Any) -> s.TSum:
        clauses = self.nodes(c)
        return s.TSum([(clause[0], list(clause[1:])) for clause in clauses], span=clauses[0].span)

    def sumclause(self, c: Any) -> _List:
        made = _List([str(c[0])[1:], *c[1:]])
        made.span = self.span(c)
        return made

    def type_apply(self, c: Any) -> s.TApply:
        return s.TApply(c[0], c[1], span=self.span(c))

    def array_type(self, c: Any) -> s.TArray:
        return s.TArray(c[0], c[1], span=self.span(c))

    def unit_type(self, c: Any) -> s.TRecord:
        return s.TRecord([], span=self.span(c))

    def tuple_type(self, c: Any) -> s.TRecord:
        return s.TRecord([(str(k), t) for k, t in enumerate([c[1], *c[3]])], span=self.span(c))

    def record_type(self, c: Any) -> s.TRecord:
        return s.TRecord(list(c[1]), span=self.span(c))

    def fieldtype(self, c: Any) -> tuple[str, Any]:
        return c[0].name, c[2]

    def type_name(self, c: Any) -> s.TName:
        return s.TName(c[0].name, span=c[0].span)

    def sizeexp(self, c: Any) -> s.Size:
        found = self.nodes(c)
        return s.Size(found[0] if found else None, span=self.span(c))

    def qualname(self, c: Any) -> s.Var:
        if len(c) == 1:
            return s.Var((str(c[0]),), span=self.span(c))
        return s.Var((*c[0].name, str(c[2])), span=self.span(c))

    def fieldid(self, c: Any) -> s.PName:
        return s.PName(str(c[0]), span=self.span(c))

    # -- patterns

    def attr_pat(self, c: Any) -> s.PAttr:
        return s.PAttr(c[1], span=self.span(c))

    def typed_pat(self, c: Any) -> s.PTyped:
        return s.PTyped(c[0], c[2], span=self.span(c))

    def case_pat(self, c: Any) -> s.PCase:
        return s.PCase(str(c[0])[1:], list(c[1:]), span=self.span(c))

    def case0_pat(self, c: Any) -> s.PCase:
        return s.PCase(str(c[0])[1:], [], span=self.span(c))

    def neg_pat(self, c: Any) -> s.PLit:
        return s.PLit(s.Lit(c[1].kind, -c[1].value, c[1].suffix, span=self.span(c)), span=self.span(c))

    def name_pat(self, c: Any) -> s.PName:
        return s.PName(str(c[0]), span=self.span(c))

    def op_pat(self, c: Any) -> s.PName:
        return s.PName(c[1].name[-1], span=self.span(c))

    def wild_pat(self, c: Any) -> s.PWild:
        return s.PWild(span=self.span(c))

    def unit_pat(self, c: Any) -> s.PRecord:
        return s.PRecord([], span=self.span(c))

    def tuple_pat(self, c: Any) -> s.PRecord:
        return s.PRecord([(str(k), p) for k, p in enumerate([c[1], *c[3]])], span=self.span(c))

    def record_pat(self, c: Any) -> s.PRecord:
        return s.PRecord(list(c[1]), span=self.span(c))

    def fieldpat(self, c: Any) -> tuple[str, Any]:
        return c[0].name, c[2]

    def fieldpat_typed(self, c: Any) -> tuple[str, Any]:
        return c[0].name, s.PTyped(c[0], c[2], span=self.span(c))

    def fieldpat_short(self, c: Any) -> tuple[str, Any]:
        return c[0].name, c[0]

    def lit_pat(self, c: Any) -> s.PLit:
        return s.PLit(c[0], span=c[0].span)

    def parens(self, c: Any) -> Any:
        return c[1]

    # -- expressions

    def ascribe(self, c: Any) -> s.Ascribe:
        return s.Ascribe(c[0], c[2], span=self.span(c))

    def coerce(self, c: Any) -> s.Coerce:
        return s.Coerce(c[0], c[2], span=self.span(c))

    def chain(self, c: Any) -> Any:
        return resolve(c[0])

    def ops(self, c: Any) -> Chain:
        return Chain([c[0]], c[0].span)

    def op_tail(self, c: Any) -> Chain:
        return c[0].more(("op", c[1]), c[2])  # type: ignore[no-any-return]

    def with_tail(self, c: Any) -> Chain:
        return c[0].more(("with", [x for x in c[2:-1] if isinstance(x, tuple)]), c[-1])  # type: ignore[no-any-return]

    def range_tail(self, c: Any) -> Chain:
        return c[0].more(("range", str(c[1])), c[2])  # type: ignore[no-any-return]

    def binop(self, c: Any) -> s.Var:
        if len(c) == 3:
            return s.Var(c[1].name, span=self.span(c), info="quoted")
        return s.Var(qualified(str(c[0])), span=self.span(c))

    secop = binop

    def if_(self, c: Any) -> s.If:
        return s.If(c[1], c[3], c[5], span=self.span(c))

    def loop(self, c: Any) -> s.Loop:
        kind, var, high = c[3]
        return s.Loop(c[1], c[2].value, kind, var, high, c[5], span=self.span(c))

    def for_form(self, c: Any) -> tuple[str, Any, Any]:
        return "for", s.PName(str(c[1]), span=self.token_span(c[1])), c[3]

    def in_form(self, c: Any) -> tuple[str, Any, Any]:
        return "in", c[1], c[3]

    def while_form(self, c: Any) -> tuple[str, Any, Any]:
        return "while", None, c[1]

    def match(self, c: Any) -> s.Match:
        cases = [x for x in c if isinstance(x, tuple)]
        start, end = self.token_span(c[0]), cases[-1][1].span
        return s.Match(c[1], cases, span=Span(self.source, start.line, start.column, end.end_line, end.end_column))

    def case(self, c: Any) -> tuple[Any, Any]:
        return c[1], c[3]

    def assert_(self, c: Any) -> s.Assert:
        return s.Assert(c[1], c[2], span=self.span(c))

    def attr(self, c: Any) -> s.Attr:
        return s.Attr(str(c[0])[2:-1], c[1], span=self.span(c))

    def neg(self, c: Any) -> Any:
        return s.Neg(c[1], span=self.span(c))

    def not_(self, c: Any) -> s.Not:
        return s.Not(c[1], span=self.span(c))

    def apply_(self, c: Any) -> Any:
        if isinstance(c[0], s.Case):
            return s.Case(c[0].name, [*c[0].items, c[1]], span=self.span(c))
        return s.Apply(c[0], c[1], span=self.span(c))

    apply_last = apply_

    def lambda_(self, c: Any) -> s.Lambda:
        return s.Lambda(list(c[1]), c[2].value, c[4], span=self.span(c))

    def let_sizes(self, c: Any) -> s.Let:
        sizes = [x for x in c if isinstance(x, str) and not isinstance(x, Token)]
        return s.Let(sizes, c[1 + len(sizes)], c[-2], c[-1], span=self.span(c))

    def sizebinder(self, c: Any) -> str:
        return str.__str__(c[1])

    def let(self, c: Any) -> s.Let:
        return s.Let([], c[1], c[3], c[4], span=self.span(c))

    def let_fun(self, c: Any) -> s.LetFun:
        return s.LetFun(str(c[1]), list(c[2]), list(c[3]), c[4].value, c[6], c[7], span=self.span(c))

    def let_with(self, c: Any) -> s.LetWith:
        return s.LetWith(str(c[1]), [x for x in c if isinstance(x, tuple)], c[-2], c[-1], span=self.span(c))

    def letbody(self, c: Any) -> Any:
        return c[1]

    def step_index(self, c: Any) -> s.Step:
        return "index", list(c[-2])

    def step_field(self, c: Any) -> s.Step:
        return "field", c[-1].name

    def string(self, c: Any) -> s.String:
        return s.String(text_bytes(str(c[0])[1:-1]), span=self.span(c))

    def hole(self, c: Any) -> s.Hole:
        return s.Hole(span=self.span(c))

    def var(self, c: Any) -> s.Var:
        return s.Var((str(c[0]),), span=self.span(c))

    def case0(self, c: Any) -> s.Case:
        return s.Case(str(c[0])[1:], [], span=self.span(c))

    def tuple(self, c: Any) -> s.RecordLit:
        return s.RecordLit([(str(k), e) for k, e in enumerate([c[1], *c[3]])], True, span=self.span(c))

    def unit(self, c: Any) -> s.RecordLit:
        return s.RecordLit([], True, span=self.span(c))

    def array(self, c: Any) -> s.ArrayLit:
        return s.ArrayLit(list(c[1]), span=self.span(c))

    def array0(self, c: Any) -> s.ArrayLit:
        return s.ArrayLit([], span=self.span(c))

    def record(self, c: Any) -> s.RecordLit:
        return s.RecordLit(list(c[1]), False, span=self.span(c))

    def recfield(self, c: Any) -> Any:
        return c[0].name, c[2]

    def recfield_short(self, c: Any) -> Any:
        return str(c[0]), s.Var((str(c[0]),), span=self.span(c))

    def dot(self, c: Any) -> Any:
        if isinstance(c[0], s.Var) and c[2].type == "NAME" and c[0].info is None:
            return s.Var((*c[0].name, str(c[2])), span=self.span(c))
        return s.Project(c[0], str(c[2]), span=self.span(c))

    def open_in(self, c: Any) -> Any:
        name = c[0].name if isinstance(c[0], s.Var) else ()
        return s.OpenIn(name, c[3], span=self.span(c))

    def index(self, c: Any) -> s.Index:
        return s.Index(c[0], list(c[2]), span=self.span(c))

    def section(self, c: Any) -> s.Section:
        return s.Section(c[1].name, None, None, span=self.span(c))

    def minus_section(self, c: Any) -> s.Section:
        return s.Section(("-",), None, None, span=self.span(c))

    def section_right(self, c: Any) -> s.Section:
        return s.Section(c[1].name, None, resolve(c[2]), span=self.span(c))

    def section_left(self, c: Any) -> s.Section:
        return s.Section(c[2].name, resolve(c[1]), None, span=self.span(c))

    def path_section(self, c: Any) -> s.PathSection:
        return s.PathSection(c[1], span=self.span(c))

    def path_field(self, c: Any) -> list[s.Step]:
        return [("field", c[1].name), *(x for x in c if isinstance(x, tuple))]

    def path_index(self, c: Any) -> list[s.Step]:
        return [("index", list(c[2])), *(x for x in c if isinstance(x, tuple))]

    def dim_index(self, c: Any) -> s.Dim:
        return s.Dim(False, resolve(c[0]))

    def dim_slice(self, c: Any) -> s.Dim:
        return s.Dim(True, c[0].value, c[2].value, c[3].value)

    def dimlow(self, c: Any) -> _Maybe:
        return _Maybe(resolve(c[0]) if c else None)

    def dimstep(self, c: Any) -> _Maybe:
        return c[1] if c else _Maybe(None)

    def true(self, c: Any) -> s.Lit:
        return s.Lit("bool", True, "bool", span=self.span(c))

    def false(self, c: Any) -> s.Lit:
        return s.Lit("bool", False, "bool", span=self.span(c))

    def char(self, c: Any) -> s.Lit:
        return s.Lit("int", characters(str(c[0])[1:-1])[0], None, span=self.span(c))

    def number(self, c: Any) -> s.Lit:
        return number(c[0], self.span(c))


class _Maybe:
    def __init__(self, value: Any) -> None:
        self.value = value


def qualified(text: str) -> s.Name:
    """`a.b.+.` is the operator `+.` of a.b."""
    parts: list[str] = []
    while text[:1].isalpha() or (text[:1] == "_" and len(text) > 1):
        head, _, text = text.partition(".")
        parts.append(head)
    return (*parts, text)
