"""The surface language: what a user wrote, as a tree with a span on every node. Nothing is resolved or typed yet.

    function  ::= def f(p: T = default, ...) -> T: stmt...
    stmt      ::= target = e | target: T = e | target op= e | if e: ... else: ... | while e: ... else: ... | for target in e: ... else: ...
                | match e: case pattern if e: ... | return e | break | continue | assert e, e | def ... | e | pass
    target    ::= x | target, ... | e[item, ...] | e.x
    e         ::= number | "text" | f"text" | x | e.x | e(e, ..., x=e) | e op e | op e | e and e | e < e <= e | e if e else e
                | lambda x...: e | [e or *e, ...] | (e, ...) | [e for target in e if e ...] | (e for ...) | e[item, ...]
    item      ::= e | e:e:e | None | ...
    pattern   ::= _ | x | value | Class(pattern..., x=pattern) | pattern | pattern | pattern as x | pattern, ...

What Python has beyond this is refused by name in `parse`; `break`, `continue`, `return` in loops and `else` of loops are said with conditions by
`leaving`, before anything else looks at a function.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.errors import NOWHERE, Span


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, repr=False)


# -- expressions


@dataclass(frozen=True, slots=True, eq=False)
class Num(Node):
    value: bool | int | float | complex


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """A string, or an f-string: its literal pieces and the expressions between them (with their format)."""

    parts: tuple[str | tuple[Expr, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(frozen=True, slots=True, eq=False)
class Attr(Node):
    value: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    fn: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BinOp(Node):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    op: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class BoolOp(Node):
    op: str
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Node):
    first: Expr
    rest: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class IfExp(Node):
    test: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Lambda(Node):
    params: tuple[Param, ...]
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Node):
    """`*xs` among the items of a list display: all that xs holds."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class ListDisplay(Node):
    items: tuple[Expr | Spread, ...]

    @property
    def is_spread(self) -> bool:
        return any(isinstance(item, Spread) for item in self.items)


@dataclass(frozen=True, slots=True, eq=False)
class TupleDisplay(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Clause(Node):
    target: Target
    iter: Expr
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comprehension(Node):
    """[element for ...] when `is_list`, otherwise a generator, which only a reduction may take."""

    element: Expr
    clauses: tuple[Clause, ...]
    is_list: bool


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    low: Expr | None
    high: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsis(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class NewAxis(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Subscript(Node):
    value: Expr
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NoneValue(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Unset(Node):
    """No value yet: the name takes the type of what it becomes, and nobody reads it before. Never written by a user."""


Expr = (
    Num
    | Text
    | Name
    | Attr
    | Call
    | BinOp
    | Unary
    | BoolOp
    | Compare
    | IfExp
    | Lambda
    | ListDisplay
    | TupleDisplay
    | Comprehension
    | Subscript
    | NoneValue
    | Unset
)
Item = Expr | Slice | Ellipsis | NewAxis


# -- statements


@dataclass(frozen=True, slots=True, eq=False)
class TupleTarget(Node):
    items: tuple[Target, ...]


Target = Name | TupleTarget | Subscript | Attr


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    targets: tuple[Target, ...]
    value: Expr
    annotation: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AugAssign(Node):
    target: Target
    op: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    test: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class While(Node):
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """`going` is a name: no round begins where it is false."""

    target: Target
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    going: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    value: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Assert(Node):
    test: Expr
    message: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class ExprStmt(Node):
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Pass(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Case(Node):
    pattern: Pattern
    guard: Expr | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Match(Node):
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Param(Node):
    name: str
    annotation: Expr | None
    default: Expr | None
    given: str = "either"  # or by "position" only, by "name" only


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    name: str
    params: tuple[Param, ...]
    result: Expr | None
    body: tuple[Stmt, ...]
    doc: str | None = None


Stmt = Assign | AugAssign | If | While | For | Return | Break | Continue | Assert | ExprStmt | Pass | Match | Function


def bodies(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statements directly inside a statement; those of an inner function are its own."""
    match stmt:
        case If(_, then, orelse):
            return then, orelse
        case While(_, body, orelse) | For(_, _, body, orelse):
            return body, orelse
        case Match(_, cases):
            return tuple(case.body for case in cases)
    return ()


# -- patterns


@dataclass(frozen=True, slots=True, eq=False)
class Wildcard(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Capture(Node):
    name: str
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ValuePattern(Node):
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class ClassPattern(Node):
    cls: Expr
    args: tuple[Pattern, ...]
    keywords: tuple[tuple[str, Pattern], ...]


@dataclass(frozen=True, slots=True, eq=False)
class OrPattern(Node):
    options: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TuplePattern(Node):
    items: tuple[Pattern, ...]


Pattern = Wildcard | Capture | ValuePattern | ClassPattern | OrPattern | TuplePattern
