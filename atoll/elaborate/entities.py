"""What a name or an expression can stand for while a body is elaborated.

A `Value` is something that exists at run time. Everything else is known now: functions, types, modules, text, things to iterate
over. Scopes map names to entities; a rebinding puts a new entity in place of the old one, so `is` tells whether a captured name
still means what it meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from atoll.core import ir
from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym
from atoll.surface import syntax as s
from atoll.types.types import Fn, Scalar, Type, Union

if TYPE_CHECKING:
    from atoll.elaborate.elaborator import Elaborator
    from atoll.elaborate.namespace import Namespace


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A run-time value. `type` may be weak; `expr` has the type it has alone.

    `poly` is the value of an integer as a polynomial, when it is one: then it can be a size. `holds`/`fails` are polynomials
    known to be >= 0 when a condition is true/false. `ones` are axes of one element that the text made (`x[:, None]`, keepdims):
    they meet axes of any size, as in NumPy (elaborate/broadcasting.py).
    """

    expr: ir.Expr
    type: Type
    poly: Poly | None = None
    holds: tuple[Poly, ...] = ()
    fails: tuple[Poly, ...] = ()
    ones: frozenset[int] = frozenset()

    @property
    def weak(self) -> bool:
        return isinstance(self.type, Scalar) and bool(self.type.weak)


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """Where a piece of text stands: what names that are not local, sizes and type variables mean in it, and the definition whose ranks it is part of."""

    namespace: Namespace
    sizes: dict[Atom, Poly]  # declared sizes of the definition, in symbols of the function under elaboration
    types: dict[str, Type]  # what its type variables stand for
    definition: Any


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A local function or lambda with everything its text needs to mean the same wherever it is called: what its free
    names meant where it was made, its defaults (computed there, as in Python) and its home."""

    name: str
    params: tuple[s.Param, ...]
    body: s.Expr | tuple[s.Stmt, ...]
    captured: dict[str, Any]
    owners: dict[str, Frame]  # whose names they are
    defaults: dict[str, Any]
    home: Home
    span: Span
    result: s.Expr | None = None
    ranks: tuple[int | None, ...] | None = None  # of its parameters, where a parameter's type declares them


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """rep(f): a function mapped over the outermost axis of its arguments, `times` times."""

    fn: Any
    times: int


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A known function as a declared type sees it (elaborate/declared.py): passed or returned at `span` as `what`."""

    fn: Any
    type: Fn
    span: Span
    what: str
    loose: tuple[Sym, ...] = ()  # sizes that only types of functions name: each call has its own


def undeclared(entity: Any) -> Any:
    """The function itself, without the types it was declared to have on its way."""
    while isinstance(entity, Declared):
        entity = entity.fn
    return entity


@dataclass(frozen=True, slots=True, eq=False)
class FnRef:
    """Another Atoll function (atoll.function.Function)."""

    fn: Any


@dataclass(frozen=True, slots=True)
class Builtin:
    """A name the language gives; `call` elaborates an application of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Word(Builtin):
    """A name with NumPy's meaning (elaborate/numpy_names): `np.sum`, `np.linalg.solve`, a bare `median`. `name` is how errors call it."""

    key: str  # the row of the table: "sum", "linalg.solve"

    @property
    def dotted(self) -> bool:
        """Written as a name of numpy's, or as a method: then a reduction without axis= reduces everything."""
        return self.name != self.key or "." in self.key


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """np.finfo(f32), np.iinfo(i64): what is known of an element type; its attributes are numbers."""

    dtype: Any
    name: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TypeRef:
    """A type used as an expression: f32(x), P(x=1.0)."""

    type: Any


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """`at`, `np`, `math`, `operator`: a dotted name into it is looked up in its meaning table."""

    module: Any


@dataclass(frozen=True, slots=True)
class Settings:
    """A class of constants, a member of an enumeration, an instance of a dataclass: only `.name` of it means something in a body."""

    holder: Any
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class TextValue:
    parts: tuple[str | tuple[Value, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class NoneEntity:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Iterable:
    """Something to iterate over: `size` rounds, round i gives `element(i)` for an index value i.

    `array` is the array when the elements are just its own.
    """

    size: Poly
    element: Callable[[Elaborator, Value], Entity]
    array: Value | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """A comprehension nobody has consumed yet."""

    node: s.Comprehension


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """A name that only some paths bind, or (`later`) that is bound further down only."""

    why: Span
    later: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unset:
    """A name that has no value yet: it takes the type of what it becomes, and nobody reads it before."""


@dataclass(frozen=True, slots=True, eq=False)
class TupleEntity:
    """A tuple with parts that are not run-time values (functions in a tuple)."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Display:
    """`[a, b]` as an argument of one of NumPy's names: an array, or a list of arrays that need not have one size."""

    items: tuple[Any, ...]
    node: s.ListDisplay


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of two known functions, decided at run time."""

    test: Value
    then: Any
    orelse: Any


@dataclass(frozen=True, slots=True, eq=False)
class FnArray:
    """A display of known functions."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """One function of a display, at an index decided at run time."""

    index: Value
    items: tuple[Any, ...]
    span: Span
    joined: bool = False  # the index is the number of a branch (elaborate/joined.py): always one of them


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """grad(f) and the like: a function made of a function. `wrt` are positions or names; of a linear map, the point; of vmap, the axes. Errors speak of `said`."""

    kind: str
    fn: Any
    wrt: Any
    said: str = ""
    has_aux: bool = False


Entity = Value | Display | Derived | Declared | Lifted | Choice | FnArray | Pick | Closure | FnRef | Builtin | TypeRef | Module | TextValue | NoneEntity | Iterable | Generator | Unbound | TupleEntity


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One activation of a function's body. Its local names are known from the text, as in Python: one that is not bound yet is no global."""

    local: frozenset[str] = frozenset()
    span: Span = NOWHERE


class Scope:
    """Names of one function or comprehension; lookups go outwards. The branches of an `if` and the rounds of a loop have scopes of their own
    in the same frame."""

    __slots__ = ("declared", "frame", "names", "owners", "parent")

    def __init__(self, parent: Scope | None = None, names: dict[str, Any] | None = None, frame: Frame | None = None) -> None:
        self.names: dict[str, Any] = names if names is not None else {}
        self.parent = parent
        self.frame = frame if frame is not None else Frame()
        self.owners: dict[str, Frame] = {}  # of names that were captured from other frames
        self.declared: dict[str, Union] = {}  # unions that names were annotated with: they keep them when they are bound again

    def lookup(self, name: str) -> Any | None:
        found = self.find(name)
        return None if found is None else found[0]

    def find(self, name: str) -> tuple[Any, Frame] | None:
        """What a name means, and in which frame."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name], scope.owners.get(name, scope.frame)
            if name in scope.frame.local:
                return Unbound(scope.frame.span, later=True), scope.frame
            scope = scope.parent
        return None

    def child(self, frame: Frame | None = None) -> Scope:
        return Scope(self, None, frame)

    def branch(self, names: dict[str, Any]) -> Scope:
        """The same frame with these names."""
        made = Scope(self.parent, names, self.frame)
        made.declared = dict(self.declared)
        return made
