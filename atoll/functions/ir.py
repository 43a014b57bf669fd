"""λANF: functions, data and control in administrative normal form (CertiCoq, docs/sources.md).

    block ::= bind... term
    bind  ::= x = literal
            | x... = op(y...)              an operator of operators.py; one with an effect is never dropped, moved or copied
            | x = C(y...)                  a constructor applied to as many values as it has fields
            | x = y.i of C                 field i of a value made by C
            | x... = f(y...)               a call that returns
            | fun f(x...) = block ...      mutually recursive functions; each may be used as a value
            | join j(x...) = block         a place to continue at, known only to the rest of this block, never a value
    term  ::= case y of C -> block ...     one branch for every constructor the value can have
            | f(y...)                      a tail call: the function's results are ours
            | jump j(y...)
            | ret y...

What CertiCoq has and this has not: one result per call; here a function returns any number of values, because Atoll's tuples are
spread over variables and never built. What this has and CertiCoq has not: join points, so that inlining never copies what follows.

Meaning. Strict, left to right. A function means its text together with the values of its free names. Calls saturate: the
number of arguments is the number of parameters. Fuel and traces: see evaluate.py. A variable has one binder in the whole program
(check.py), so a name means the same everywhere in its scope and no pass can capture one.

λANF-C, what closure conversion and hoisting leave: one bundle at the top, of functions without free variables other than each other, then a
block without definitions except joins. A function name used as a value is then a code pointer.

`rep` says how a value is held: a dtype's name for a number, "data" for a cell, a closure or an immediate, "array" for an array,
"code" for the name of a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from atoll.errors import NOWHERE, Span

if TYPE_CHECKING:
    from atoll.functions.operators import Operator

Rep = str
DATA, ARRAY, CODE, BOOL_REP, INT = "data", "array", "code", "bool", "i64"


class Var:
    """A variable, function or join point. Itself is its identity; the name is for readers."""

    __slots__ = ("name", "rep", "span")

    def __init__(self, name: str, rep: Rep = DATA, span: Span = NOWHERE) -> None:
        self.name, self.rep, self.span = name, rep, span  # the span is where its value comes from

    def again(self) -> Var:
        """A fresh variable like this one."""
        return Var(self.name, self.rep, self.span)

    def __repr__(self) -> str:
        return self.name


Vars = tuple[Var, ...]


class DataType:
    """A set of constructors. A value of it is made by exactly one of them."""

    __slots__ = ("name", "constructors")

    def __init__(self, name: str, **constructors: tuple[Rep, ...]) -> None:
        self.name = name
        self.constructors: tuple[Constructor, ...] = ()
        for each, fields in constructors.items():
            self.add(each, fields)

    def add(self, name: str, fields: tuple[Rep, ...]) -> Constructor:
        made = Constructor(name, len(self.constructors), fields, self)
        self.constructors = (*self.constructors, made)
        return made

    def __getitem__(self, name: str) -> Constructor:
        return next(c for c in self.constructors if c.name == name)

    def __repr__(self) -> str:
        return self.name


class Constructor:
    """One way to make a value: how its fields are held, and which number tells it from its siblings."""

    __slots__ = ("data", "fields", "name", "tag")

    def __init__(self, name: str, tag: int, fields: tuple[Rep, ...], data: DataType) -> None:
        self.name, self.tag, self.fields, self.data = name, tag, fields, data

    def __repr__(self) -> str:
        return self.name


BOOL = DataType("bool", false=(), true=())
FALSE, TRUE = BOOL.constructors
UNIT = DataType("unit", unit=()).constructors[0]


# -- binds


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    result: Var
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    results: Vars
    op: Operator
    args: Vars
    span: Span = field(default=NOWHERE, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Make:
    result: Var
    con: Constructor
    args: Vars


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """Field `index` of `value`, which was made by `con`."""

    result: Var
    value: Var
    con: Constructor
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    results: Vars
    fn: Var
    args: Vars


@dataclass(frozen=True, slots=True, eq=False)
class Fun:
    """`marked` functions are wrappers that want to be inlined (uncurry and lambda_lift make them)."""

    name: Var
    params: Vars
    body: Block
    results: tuple[Rep, ...] = (DATA,)
    marked: bool = False
    span: Span = field(default=NOWHERE, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Funs:
    bundle: tuple[Fun, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    name: Var
    params: Vars
    body: Block


Bind = Literal | Op | Make | Take | Call | Funs | Join


# -- terms


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    value: Var
    branches: tuple[tuple[Constructor, Block], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    fn: Var
    args: Vars


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    join: Var
    args: Vars


@dataclass(frozen=True, slots=True, eq=False)
class Ret:
    values: Vars


Term = Case | Tail | Jump | Ret


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    binds: tuple[Bind, ...]
    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A block whose value is the program's; `results` says how it is held, `params` are given from outside."""

    block: Block
    results: tuple[Rep, ...] = (DATA,)
    params: Vars = ()

    def with_block(self, block: Block) -> Program:
        return Program(block, self.results, self.params)


# -- looking around


def bound(bind: Bind) -> Vars:
    """The variables a bind makes for what follows it."""
    match bind:
        case Literal() | Make() | Take():
            return (bind.result,)
        case Op() | Call():
            return bind.results
        case Funs(bundle):
            return tuple(f.name for f in bundle)
    return (bind.name,)


def uses(bind: Bind) -> Vars:
    """The variables a bind mentions itself, not inside functions and joins it defines."""
    match bind:
        case Op() | Make():
            return bind.args
        case Take():
            return (bind.value,)
        case Call():
            return (bind.fn, *bind.args)
    return ()


def term_uses(term: Term) -> Vars:
    """The variables a term mentions, a jump's join first."""
    match term:
        case Ret(values):
            return values
        case Case(value):
            return (value,)
        case Tail(fn, args):
            return (fn, *args)
        case Jump(join, args):
            return (join, *args)


def inner_blocks(bind: Bind) -> tuple[Block, ...]:
    if isinstance(bind, Funs):
        return tuple(f.body for f in bind.bundle)
    return (bind.body,) if isinstance(bind, Join) else ()


def blocks(block: Block) -> Iterator[Block]:
    """This block and every block inside it, functions and joins too."""
    todo = [block]
    while todo:
        each = todo.pop()
        yield each
        for bind in each.binds:
            todo.extend(inner_blocks(bind))
        if isinstance(each.term, Case):
            todo.extend(b for _, b in each.term.branches)


def size(block: Block) -> int:
    """How many binds and terms."""
    return sum(len(each.binds) + 1 for each in blocks(block))


def functions(block: Block) -> dict[Var, Fun]:
    """Every function defined in a block."""
    return {f.name: f for each in blocks(block) for bind in each.binds if isinstance(bind, Funs) for f in bind.bundle}


def with_body(f: Fun, body: Block) -> Fun:
    return replace(f, body=body)
