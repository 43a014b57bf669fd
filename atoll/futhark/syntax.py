"""The syntax of Futhark programs, as the parser makes it. Nodes are told apart by identity; the checker writes what it found into `ty` and `info`.

    program ::= dec...
    dec  ::= def/entry x typarams pat... : t = e | type x typarams = t | module x params : S = M | module type x = S | open M | import "f" | local dec
    M    ::= x.y | { dec... } | M M | M : S | \\(x : S) -> M | import "f"
    S    ::= x.y | { spec... } | S with x = t | (x : S) -> S
    t    ::= x.y | t t | [e]t | (t, ...) | {f: t, ...} | #c t... | ... | t -> t | *t | ?[n].t
    e    ::= the expressions below

Tuples are records whose fields are 0, 1, 2: there is one kind of record only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.errors import NOWHERE, Span


@dataclass(slots=True, eq=False, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, repr=False)
    ty: Any = field(default=None, repr=False)  # its type, once it is checked
    info: Any = field(default=None, repr=False)  # what else the checker knows
    made: tuple[int, int] | None = field(default=None, repr=False)  # of an expression: the unknown sizes that came about while it was typed, from and to


CHECKED = ("span", "ty", "info", "made")  # fields of nodes that are not syntax

Name = tuple[str, ...]  # a qualified name


# -- types


@dataclass(slots=True, eq=False)
class TName(Node):
    name: Name


@dataclass(slots=True, eq=False)
class TApply(Node):
    fn: TypeExp
    arg: TypeExp | Size


@dataclass(slots=True, eq=False)
class Size(Node):
    """[e], or [] where e is None."""

    value: Exp | None


@dataclass(slots=True, eq=False)
class TArray(Node):
    size: Size
    elem: TypeExp


@dataclass(slots=True, eq=False)
class TRecord(Node):
    fields: list[tuple[str, TypeExp]]


@dataclass(slots=True, eq=False)
class TSum(Node):
    cases: list[tuple[str, list[TypeExp]]]


@dataclass(slots=True, eq=False)
class TArrow(Node):
    name: str | None
    param: TypeExp
    result: TypeExp


@dataclass(slots=True, eq=False)
class TUnique(Node):
    inner: TypeExp


@dataclass(slots=True, eq=False)
class TExists(Node):
    names: list[str]
    inner: TypeExp


TypeExp = TName | TApply | TArray | TRecord | TSum | TArrow | TUnique | TExists


@dataclass(slots=True, eq=False)
class TypeParam(Node):
    """[n] (kind "size"), 't ("type"), '~t ("lifted size"), '^t ("lifted")."""

    name: str
    kind: str


# -- patterns


@dataclass(slots=True, eq=False)
class PName(Node):
    name: str


@dataclass(slots=True, eq=False)
class PWild(Node):
    pass


@dataclass(slots=True, eq=False)
class PLit(Node):
    value: Exp


@dataclass(slots=True, eq=False)
class PRecord(Node):
    fields: list[tuple[str, Pat]]


@dataclass(slots=True, eq=False)
class PCase(Node):
    name: str
    items: list[Pat]


@dataclass(slots=True, eq=False)
class PTyped(Node):
    inner: Pat
    type: TypeExp


@dataclass(slots=True, eq=False)
class PAttr(Node):
    inner: Pat


Pat = PName | PWild | PLit | PRecord | PCase | PTyped | PAttr


# -- expressions


@dataclass(slots=True, eq=False)
class Lit(Node):
    """A number: `suffix` is its type where the text says it; kind is int, float or bool."""

    kind: str
    value: Any
    suffix: str | None


@dataclass(slots=True, eq=False)
class String(Node):
    value: bytes


@dataclass(slots=True, eq=False)
class Var(Node):
    name: Name


@dataclass(slots=True, eq=False)
class Hole(Node):
    pass


@dataclass(slots=True, eq=False)
class RecordLit(Node):
    fields: list[tuple[str, Exp]]
    tuple_: bool


@dataclass(slots=True, eq=False)
class ArrayLit(Node):
    items: list[Exp]


@dataclass(slots=True, eq=False)
class Project(Node):
    value: Exp
    field_: str


@dataclass(slots=True, eq=False)
class OpenIn(Node):
    """M.(e)"""

    name: Name
    value: Exp


@dataclass(slots=True, eq=False)
class Dim:
    """An index (only `low`), or a slice low:high:step."""

    slice: bool
    low: Exp | None
    high: Exp | None = None
    step: Exp | None = None


@dataclass(slots=True, eq=False)
class Index(Node):
    value: Exp
    dims: list[Dim]


@dataclass(slots=True, eq=False)
class Apply(Node):
    fn: Exp
    arg: Exp


@dataclass(slots=True, eq=False)
class Case(Node):
    """#name e..."""

    name: str
    items: list[Exp]


@dataclass(slots=True, eq=False)
class BinOp(Node):
    op: Name
    left: Exp
    right: Exp
    quoted: bool = False  # `f`
    fn: Any = field(default=None, repr=False)  # the operator as a variable, for the checker


@dataclass(slots=True, eq=False)
class Neg(Node):
    value: Exp


@dataclass(slots=True, eq=False)
class Not(Node):
    value: Exp


@dataclass(slots=True, eq=False)
class Range(Node):
    low: Exp
    second: Exp | None
    kind: str  # ... ..< ..>
    high: Exp


Step = tuple[str, Any]  # ("field", name) or ("index", dims)


@dataclass(slots=True, eq=False)
class Update(Node):
    value: Exp
    steps: list[Step]
    new: Exp


@dataclass(slots=True, eq=False)
class Section(Node):
    """(op), (e op) with left, (op e) with right."""

    op: Name
    left: Exp | None
    right: Exp | None
    fn: Any = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class PathSection(Node):
    """(.x.y), (.[i])"""

    steps: list[Step]


@dataclass(slots=True, eq=False)
class Lambda(Node):
    params: list[Pat]
    result: TypeExp | None
    body: Exp


@dataclass(slots=True, eq=False)
class If(Node):
    cond: Exp
    then: Exp
    orelse: Exp


@dataclass(slots=True, eq=False)
class Let(Node):
    sizes: list[str]
    pat: Pat
    value: Exp
    body: Exp


@dataclass(slots=True, eq=False)
class LetFun(Node):
    name: str
    type_params: list[TypeParam]
    params: list[Pat]
    result: TypeExp | None
    value: Exp
    body: Exp


@dataclass(slots=True, eq=False)
class LetWith(Node):
    """let x[i] = e in body"""

    name: str
    steps: list[Step]
    value: Exp
    body: Exp


@dataclass(slots=True, eq=False)
class Loop(Node):
    """kind is for (x < high), in (pattern in high) or while (high is the condition)."""

    pat: Pat
    init: Exp | None
    kind: str
    var: Pat | None
    high: Exp
    body: Exp


@dataclass(slots=True, eq=False)
class Match(Node):
    value: Exp
    cases: list[tuple[Pat, Exp]]


@dataclass(slots=True, eq=False)
class Assert(Node):
    cond: Exp
    value: Exp


@dataclass(slots=True, eq=False)
class Attr(Node):
    text: str
    value: Exp


@dataclass(slots=True, eq=False)
class Ascribe(Node):
    value: Exp
    type: TypeExp


@dataclass(slots=True, eq=False)
class Coerce(Node):
    value: Exp
    type: TypeExp


Exp = (
    Lit | String | Var | Hole | RecordLit | ArrayLit | Project | OpenIn | Index | Apply | Case | BinOp | Neg | Not | Range | Update
    | Section | PathSection | Lambda | If | Let | LetFun | LetWith | Loop | Match | Assert | Attr | Ascribe | Coerce
)  # fmt: skip


# -- declarations


@dataclass(slots=True, eq=False)
class Def(Node):
    name: str
    entry: bool
    type_params: list[TypeParam]
    params: list[Pat]
    result: TypeExp | None
    body: Exp
    recursive: bool = False  # found by the checker


@dataclass(slots=True, eq=False)
class TypeDef(Node):
    name: str
    lifted: str
    params: list[TypeParam]
    type: TypeExp | None  # None in a specification: abstract


@dataclass(slots=True, eq=False)
class ModDef(Node):
    name: str
    params: list[tuple[str, SigExp]]
    sig: SigExp | None
    body: ModExp


@dataclass(slots=True, eq=False)
class SigDef(Node):
    name: str
    sig: SigExp


@dataclass(slots=True, eq=False)
class OpenDec(Node):
    body: ModExp


@dataclass(slots=True, eq=False)
class Import(Node):
    path: str


@dataclass(slots=True, eq=False)
class Local(Node):
    dec: Dec


Dec = Def | TypeDef | ModDef | SigDef | OpenDec | Import | Local


@dataclass(slots=True, eq=False)
class MName(Node):
    name: Name


@dataclass(slots=True, eq=False)
class MDecs(Node):
    decs: list[Dec]


@dataclass(slots=True, eq=False)
class MApply(Node):
    fn: ModExp
    arg: ModExp


@dataclass(slots=True, eq=False)
class MAscribe(Node):
    value: ModExp
    sig: SigExp


@dataclass(slots=True, eq=False)
class MLambda(Node):
    name: str
    param: SigExp
    result: SigExp | None
    body: ModExp


@dataclass(slots=True, eq=False)
class MImport(Node):
    path: str


ModExp = MName | MDecs | MApply | MAscribe | MLambda | MImport


@dataclass(slots=True, eq=False)
class SName(Node):
    name: Name


@dataclass(slots=True, eq=False)
class SSpecs(Node):
    specs: list[Spec]


@dataclass(slots=True, eq=False)
class SWith(Node):
    sig: SigExp
    name: Name
    params: list[TypeParam]
    type: TypeExp


@dataclass(slots=True, eq=False)
class SArrow(Node):
    name: str | None
    param: SigExp
    result: SigExp


SigExp = SName | SSpecs | SWith | SArrow


@dataclass(slots=True, eq=False)
class ValSpec(Node):
    name: str
    type_params: list[TypeParam]
    type: TypeExp


@dataclass(slots=True, eq=False)
class ModSpec(Node):
    name: str
    sig: SigExp


@dataclass(slots=True, eq=False)
class Include(Node):
    sig: SigExp


Spec = ValSpec | TypeDef | ModSpec | Include
