"""What a program is after elaboration: wires, relations between their places, computing nodes, scopes.

    wire       one flow: a variable, a sub-expression, or a name for a place. It has a type and the text it came from.
    relation   whole, parts:  place(part) = place(whole) seen through the part's functor. Every construct that only rearranges is
               one relation: ++, arrays, tuples, views, `=`, `as`, `last`, `init`, [.], {.}. Its flow says which way values go:
               `access` from the whole to its parts, `build` from the parts to the whole, None for places only.
    node       what computes: an operation on scalars, a copy, a call, or a nest (a loop, a block, one of two branches)
    scope      the nodes of an operator, loop, block or branch, with its state, what crosses its border, how it is reset

The same relation is the equation that location inference solves, the edge that causality and scheduling follow, and the meaning of the
construct in the oracle (docs/sources.md M1). A relation never computes; a node always writes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import ZERO
from atoll.types.types import Type
from atoll.views.functor import Functor

if TYPE_CHECKING:
    from atoll.madl.scheme import Scheme

_numbers = itertools.count()


class Wire:
    """One flow. role: plain, argument, last, alias, index, place (no value), chunk (a memory of a called operator)."""

    __slots__ = ("number", "name", "text", "span", "type", "scope", "role", "site", "hint")

    def __init__(self, type_: Type, scope: Scope, span: Span, text: str = "", name: str | None = None, role: str = "plain") -> None:
        self.number = next(_numbers)
        self.name, self.text, self.span = name, text, span
        self.type, self.scope, self.role = type_, scope, role
        self.hint: str | None = None  # what its memory may be called, where it has no name
        self.site = ""  # the use of an operator that was expanded here, in the user's words

    def __repr__(self) -> str:
        return f"{self.shown}#{self.number}"

    @property
    def shown(self) -> str:
        """What messages call it: its name, else the expression it is."""
        return self.site or self.name or self.text or "this value"


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """place(part) = place(whole).functor for every part. A part listed later lies over an earlier one (`with`)."""

    whole: Wire
    parts: tuple[tuple[Functor, Wire], ...]
    flow: str | None
    construct: str
    span: Span

    def sources(self) -> tuple[Wire, ...]:
        return (self.whole,) if self.flow == "access" else tuple(w for _, w in self.parts) if self.flow == "build" else ()

    def targets(self) -> tuple[Wire, ...]:
        return (self.whole,) if self.flow == "build" else tuple(w for _, w in self.parts) if self.flow == "access" else ()


# -- scalar expressions


@dataclass(frozen=True, slots=True)
class Input:
    """The value of the node's k-th input."""

    number: int
    span: Span = field(default=NOWHERE, compare=False)  # where it is used


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    value: int | float | bool
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False)
class SizeValue:
    """A size or loop index as a number."""

    size: Poly
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class Operate:
    """A row of scalars.py applied to expressions; `type` is the result's, `sizes` its <<..>>."""

    op: str
    args: tuple[Tree, ...]
    type: Type
    span: Span = NOWHERE
    sizes: tuple[Poly, ...] = ()


Tree = Union[Input, Literal, SizeValue, Operate]


def tree_type(tree: Tree, inputs: tuple[Wire, ...]) -> Type:
    """The type of an expression over the given inputs."""
    return inputs[tree.number].type if isinstance(tree, Input) else tree.type


# -- nodes


@dataclass(eq=False, slots=True)
class Op:
    tree: Tree
    inputs: tuple[Wire, ...]
    output: Wire
    span: Span


@dataclass(eq=False, slots=True)
class Copy:
    source: Wire
    target: Wire
    span: Span


@dataclass(eq=False, slots=True)
class Call:
    """An instance of a compiled operator. Its chunks are wires of this program; `sizes` and `types` say what its own
    unknowns are here. `home` is the scope whose start resets its state."""

    scheme: Scheme
    inputs: tuple[Wire, ...]
    outputs: tuple[Wire, ...]
    chunks: tuple[Wire, ...]
    sizes: dict[Atom, Poly]
    types: dict[Any, Type]
    span: Span
    site: int
    home: Scope | None = None

    @property
    def name(self) -> str:
        return self.scheme.name

    def written(self) -> list[Wire]:
        return [w for w, c in zip(self.chunks, self.scheme.chunks, strict=True) if c.written]

    def state(self) -> list[Wire]:
        return [w for w, c in zip(self.chunks, self.scheme.chunks, strict=True) if c.role == "state"]


@dataclass(eq=False, slots=True)
class ResetCall:
    """Put the state of a call back to its first value."""

    call: Call
    span: Span


@dataclass(eq=False, slots=True)
class Nest:
    """A loop or block (one scope), or a branch (several scopes, one of which runs: the first that has the condition's value among its labels, else the last)."""

    scopes: tuple[Scope, ...]
    span: Span
    condition: Wire | None = None
    merges: list[tuple[Wire, tuple[Wire, ...]]] = field(default_factory=list)  # branch: outer wire, one per scope
    labels: tuple[tuple[int | bool, ...], ...] = ()  # branch: of every scope but the last
    places: tuple[Span, ...] = ()  # branch: where each scope is written

    @property
    def scope(self) -> Scope:
        return self.scopes[0]

    @property
    def kind(self) -> str:
        return self.scopes[0].kind

    def decisions(self) -> tuple[Span, ...]:
        """What is decided: an `if` as a whole, or every case of a match but the last, by where it is written."""
        return (self.span,) if len(self.scopes) == 2 and self.places[0] == self.span else self.places


Computing = Union[Op, Copy, Call, ResetCall, Nest]


@dataclass(eq=False, slots=True)
class Start:
    """Code run when a scope (re)starts: the values of `init`, at the places of the flows they initialise."""

    scope: Scope  # kind init: its nodes
    targets: list[tuple[Wire, Wire]]  # flow, initial value
    owner: Scope  # the scope that restarts
    within: Scope  # the scope the init was written in
    span: Span


class Scope:
    """kind: body, loop, block, branch, init."""

    def __init__(self, kind: str, parent: Scope | None, span: Span, depth: int | None = None) -> None:
        self.kind, self.parent, self.span = kind, parent, span
        self.depth: int = depth if depth is not None else (parent.depth + 1 if parent else 0)
        self.number = next(_numbers)
        self.nodes: list[Computing] = []
        self.reset = "resume"
        self.each = False  # a loop of which every round has state of its own
        self.condition: Wire | None = None  # of `reset c`
        self.starts: list[Start] = []
        self.lasts: list[tuple[Wire, Wire]] = []  # flow, its previous value
        self.aggregates: list[tuple[Wire, Wire]] = []  # element inside, array outside
        self.accumulates: list[tuple[Wire, Wire]] = []  # inside, final value outside
        self.aliases: list[tuple[Wire, Wire]] = []  # whole array, the part built so far
        # loops
        self.index: Sym | None = None
        self.extent: Poly = poly(1)
        self.low: Poly = ZERO
        self.index_name: str | None = None
        self.index_wire: Wire | None = None

    def __repr__(self) -> str:
        return f"{self.kind}#{self.number}"

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        here: Scope | None = self
        while here is not None:
            yield here
            here = here.parent

    def within(self, other: Scope) -> bool:
        return any(s is other for s in self.chain())


def computing(nodes: list[Computing], starts: bool = True) -> Iterator[Computing]:
    """Nodes and what is nested in them, outermost first."""
    for node in nodes:
        yield node
        if isinstance(node, Nest):
            for scope in node.scopes:
                yield from scope_nodes(scope, starts)


def scope_nodes(scope: Scope, starts: bool = True) -> Iterator[Computing]:
    """Everything that runs in a scope; with `starts`, also what runs when it restarts."""
    if starts:
        for start in scope.starts:
            yield from computing(start.scope.nodes)
    yield from computing(scope.nodes)


class Graph:
    """An elaborated operator."""

    def __init__(self, name: str, span: Span) -> None:
        self.name, self.span = name, span
        self.body = Scope("body", None, span)
        self.wires: list[Wire] = []
        self.relations: list[Relation] = []
        self.arguments: list[Wire] = []
        self.results: list[Wire] = []
        self.size_params: list[tuple[str | None, Poly]] = []  # <<..>>, with names where they are names
        self.sizes: list[Sym] = []  # free sizes, in order of appearance
        self.size_names: dict[Atom, str] = {}
        self.generics: list[Any] = []  # type variables, in order of appearance
        self.requirements: list[tuple[Poly, str, Span]] = []  # >= 0 wherever the operator runs
        self.dynamic: dict[Atom, tuple[Wire, Poly]] = {}  # index symbols that stand for values: the wire, its range
        self.loops: dict[Atom, Scope] = {}  # loop indices
        self.contracts: dict[Wire, tuple[str, str, Span]] = {}  # what must hold: assume or guarantee, its text
        self.producer: dict[Wire, Relation | Computing | None] = {}  # None: there from the start

    def scopes(self) -> list[Scope]:
        """All scopes, outermost first; init scopes after the scope that starts with them."""
        found: list[Scope] = []

        def visit(scope: Scope) -> None:
            found.append(scope)
            for start in scope.starts:
                if start.scope not in found:
                    visit(start.scope)
            for node in scope.nodes:
                if isinstance(node, Nest):
                    for inner in node.scopes:
                        visit(inner)

        visit(self.body)
        return found
