"""What is written in a .madl file.

    program   ::= { import | type | const | let }
    type      ::= type name = { field of t, ... } | type name = name | name ..      a record; an enumeration
    const     ::= const name = e                                    a number, or an array of numbers
    import    ::= import "file.py" : name, ...                      Atoll functions
    let       ::= let [rec] operator { and operator }
    operator  ::= [patt | view | func | node] name interface [= (e)] [: body] [where e at e, ..] [end]
    interface ::= { (size n ..) | (type t ..) | (data d ..) } [<<s, ..>>] { (clause) } [returns { (clause) }]
    clause    ::= e [= e]                                           one side inside, the other in the enclosing scope
    body      ::= { e ; } [restart | resume | reset e]

    s ::= n | name | 'name | _ | s + s | s - s | s * s | s / s
    t ::= name | idx<<s>> | q<<s, s>> | uq<<s, s>> | 'name | _ | [s]t | t * t | (t)

    e ::= x | 3 | 0.5 | true | _ | 'l                               variable, literals, ignored, location
        | e, e                                                      group: wiring only
        | f<<s, ..>>(e)                                             operator, builtin or scalar function
        | [| e |] | (| e |) | [s]e                                  array, tuple, constant array
        | e of t | e at e | e init e | e as p                       type, place, first value, second name
        | p = e | p += e                                            equation
        | !e | last e                                               the only copy; the value of the cycle before
        | e ++ e                                                    concat
        | [e] | {e}                                                 in the interface of a forward: element, accumulator
        | e.[s] | e.[e] | e.name | e with [s].name = e              part, and the whole with a part replaced
        | e + e, e < e, e && e, -e, not e, if e then e else e       scalar operations
        | e & e, e | e, e ^ e, ~e                                   bits
        | forward level, .. : body [end] | foreach level, ..        iteration; each element with state of its own
        | block interface [: body] [end]                            scope
        | assume e | guarantee e                                    what must hold, checked in simulation
        | if e then body { else if e then body } else body end      one of several bodies
        | match e: { case label, ..: body } [else body] end         the body of the label that e is
        | automaton [x of t]: { state name: body } end              the body of the state it is in; a body may say
        | unless e then name | until e then name                    when to change: before this cycle, or after it; `then` restarts the
        | unless e resume name | until e resume name                state's own memory, `resume` keeps it

    level ::= [<<s>> | <<low:>> | <<low:high>>] [[x] | [size n] | [x : size n]] { (clause) } [returns { (clause) }]

Every node carries the stretch of text it came from; `text(node)` is what messages quote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from atoll.madl.syntax_types import (
    ArrayType as ArrayType,
)
from atoll.madl.syntax_types import (
    FixedType as FixedType,
)
from atoll.madl.syntax_types import (
    IndexType as IndexType,
)
from atoll.madl.syntax_types import (
    Node as Node,
)
from atoll.madl.syntax_types import (
    Size as Size,
)
from atoll.madl.syntax_types import (
    SizeHole as SizeHole,
)
from atoll.madl.syntax_types import (
    SizeMeta as SizeMeta,
)
from atoll.madl.syntax_types import (
    SizeName as SizeName,
)
from atoll.madl.syntax_types import (
    SizeNumber as SizeNumber,
)
from atoll.madl.syntax_types import (
    SizeOp as SizeOp,
)
from atoll.madl.syntax_types import (
    SizeValue as SizeValue,
)
from atoll.madl.syntax_types import (
    TupleType as TupleType,
)
from atoll.madl.syntax_types import (
    TypeExpr as TypeExpr,
)
from atoll.madl.syntax_types import (
    TypeHole as TypeHole,
)
from atoll.madl.syntax_types import (
    TypeMeta as TypeMeta,
)
from atoll.madl.syntax_types import (
    TypeName as TypeName,
)

# -- expressions


@dataclass(frozen=True, slots=True)
class Variable(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Number(Node):
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Hole(Node):
    pass


@dataclass(frozen=True, slots=True)
class Meta(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Group(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Apply(Node):
    name: str
    sizes: tuple[Size, ...] | None
    arg: Expr


@dataclass(frozen=True, slots=True)
class ApplyBlock(Node):
    block: Block
    arg: Expr


@dataclass(frozen=True, slots=True)
class ArrayOf(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class TupleOf(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """[s]e"""

    size: Size
    arg: Expr


@dataclass(frozen=True, slots=True)
class Typed(Node):
    arg: Expr
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Located(Node):
    arg: Expr
    place: Expr


@dataclass(frozen=True, slots=True)
class Initial(Node):
    arg: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Alias(Node):
    arg: Expr
    pattern: Expr


@dataclass(frozen=True, slots=True)
class Equation(Node):
    pattern: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Copy(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class Last(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class Accumulate(Node):
    arg: Expr


@dataclass(frozen=True, slots=True)
class Field(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Element(Node):
    index: Size


Accessor = Field | Element


@dataclass(frozen=True, slots=True)
class Project(Node):
    arg: Expr
    accessor: Accessor


@dataclass(frozen=True, slots=True)
class Update(Node):
    arg: Expr
    accessors: tuple[Accessor, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """A scalar operation: op is a row of scalars.py."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Contract(Node):
    """`assume e`, `guarantee e`: checked in simulation, no code."""

    kind: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """`left = right`; an operator's parameters and unnamed results have no left."""

    left: Expr | None
    right: Expr


@dataclass(frozen=True, slots=True)
class Param(Node):
    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interface(Node):
    params: tuple[Param, ...] = ()
    sizes: tuple[Size, ...] | None = None
    args: tuple[Clause, ...] = ()
    results: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Level(Node):
    """One dimension of a forward. `size` is the number of rounds, `low` the first index."""

    size: Size | None = None
    low: Size | None = None
    index: str | None = None
    index_size: str | None = None
    args: tuple[Clause, ...] = ()
    results: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Reset(Node):
    """kind: restart, resume or reset (with a condition)."""

    kind: str
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Forward(Node):
    """With `each`, every round has state of its own."""

    levels: tuple[Level, ...]
    body: tuple[Expr, ...]
    reset: Reset
    each: bool = False


@dataclass(frozen=True, slots=True)
class Block(Node):
    interface: Interface
    body: tuple[Expr, ...]
    reset: Reset


@dataclass(frozen=True, slots=True)
class Branch(Node):
    condition: Expr
    then: tuple[Expr, ...]
    orelse: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class EnumValue(Node):
    """A member of an enumeration: its type (represented.Enum) and number."""

    type: Any
    value: int


@dataclass(frozen=True, slots=True)
class Case(Node):
    """One body of a match; without labels it is for all other values. `reset` says when state in it restarts."""

    labels: tuple[Expr, ...]
    body: tuple[Expr, ...]
    reset: Reset | None = None


@dataclass(frozen=True, slots=True)
class Match(Node):
    value: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Transition(Node):
    """`when` is unless or until, `into` is then or resume."""

    when: str
    condition: Expr
    into: str
    target: str


@dataclass(frozen=True, slots=True)
class State(Node):
    name: str
    body: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Automaton(Node):
    """`name of type` is the state it is in, where that is asked for."""

    name: str | None
    type: str | None
    states: tuple[State, ...]


Expr = (
    Variable
    | Number
    | Hole
    | Meta
    | Group
    | Apply
    | ApplyBlock
    | ArrayOf
    | TupleOf
    | Constant
    | Typed
    | Located
    | Initial
    | Alias
    | Equation
    | Copy
    | Last
    | Aggregate
    | Accumulate
    | Project
    | Update
    | Operation
    | Forward
    | Block
    | Branch
    | Contract
    | EnumValue
    | Match
    | Transition
    | Automaton
)


# -- the file


@dataclass(frozen=True, slots=True)
class Operator(Node):
    kind: str | None
    name: str
    interface: Interface
    body: tuple[Expr, ...]
    reset: Reset
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class RecordType(Node):
    name: str
    fields: tuple[tuple[str, TypeExpr], ...]


@dataclass(frozen=True, slots=True)
class EnumType(Node):
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Const(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Import(Node):
    file: str
    names: tuple[str, ...]


Item = Operator | RecordType | EnumType | Const | Import


@dataclass(frozen=True, slots=True)
class Program(Node):
    items: tuple[Item, ...]


# -- looking around


def children(node: Any) -> Iterator[Any]:
    """The nodes directly inside a node."""
    for f in fields(node):
        if f.name == "span":
            continue
        yield from _nodes(getattr(node, f.name))


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def walk(node: Any) -> Iterator[Any]:
    """The node and everything inside it, outermost first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewrite(value: Any, change: Any) -> Any:
    """The value with `change` applied to every node, innermost first."""
    if isinstance(value, tuple):
        return tuple(rewrite(item, change) for item in value)
    if not isinstance(value, Node):
        return value
    parts = {f.name: getattr(value, f.name) for f in fields(value)}
    new = {name: rewrite(part, change) if name != "span" else part for name, part in parts.items()}
    if any(new[name] is not part for name, part in parts.items()):
        value = type(value)(**new)
    return change(value)


def text(node: Node, most: int = 48) -> str:
    """The user's own words, on one line, cut when long."""
    words = " ".join(node.span.text().split())
    return words if len(words) <= most else words[: most - 2].rstrip() + ".."


def items(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a group, nested groups opened."""
    if isinstance(expr, Group):
        return tuple(part for item in expr.items for part in items(item))
    return (expr,)


def bare(expr: Expr) -> Expr:
    """The expression without its annotations: what `p op= e` reads under `last`."""
    while isinstance(expr, (Typed, Located, Initial, Alias)):
        expr = expr.arg
    if isinstance(expr, Group):
        return Group(tuple(bare(item) for item in expr.items), span=expr.span)
    return expr
