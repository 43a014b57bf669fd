"""Types and sizes of wires: unification, with size equations handed to atoll/sizes/solver.py.

    t ::= Scalar | Index n | Array t n | Tuple t.. | Record        as everywhere in Atoll
        | Unknown family                                           to be found; literals are unknown numbers
        | Generic name family                                      a type variable: equal only to itself

`int` is i32 and what unknown numbers become, `f64` what unknown floats become; both only when everything else is known. The family
of a Generic is what the program needs it to be: it is inferred, and shown in the operator's type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from atoll.errors import Span, fail
from atoll.madl.represented import Enum, Fixed, belongs
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.poly import show as show_size
from atoll.sizes.solver import Solver
from atoll.types.types import SCALARS, Array, Index, Record, Scalar, Tuple, Type, with_components

INT, BOOL, F64 = SCALARS["i32"], SCALARS["bool"], SCALARS["f64"]
NAMES = {"int": INT, "float": F64, **{n: t for n, t in SCALARS.items() if not t.dtype.is_complex}}
_NARROWER = ["any", "scalar", "number", "real", "integer", "float", "bool"]


class Unknown(Type):
    """A type to be found. `bound` is set when it is."""

    __slots__ = ("bound", "family")

    def __init__(self, family: str = "any") -> None:
        self.bound: Type | None = None
        self.family = family

    def __repr__(self) -> str:
        return "_" if self.bound is None else repr(self.bound)


class Generic(Type):
    """A type variable."""

    __slots__ = ("name", "family")

    def __init__(self, name: str, family: str = "any") -> None:
        self.name, self.family = name, family

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Reason:
    """Why two sizes must be equal: two types must be, or (None) a size was given."""

    span: Span
    found: Type | None
    expected: Type | None
    rule: str = ""  # what asks for it, where that is not plain from the types
    text: str | None = None  # the expression, where it is not what stands at the place


def prune(t: Type) -> Type:
    """t without solved unknowns on top."""
    while isinstance(t, Unknown) and t.bound is not None:
        t = t.bound
    return t


def rebuild(t: Type, leaf: Callable[[Type], Type], size: Callable[[Poly], Poly]) -> Type:
    """t with unknowns followed, its leaves and sizes replaced."""
    t = prune(t)
    if isinstance(t, Array):
        return Array(rebuild(t.elem, leaf, size), size(t.size))
    if isinstance(t, Index):
        return Index(size(t.size))
    if isinstance(t, (Tuple, Record)):
        return with_components(t, [rebuild(item, leaf, size) for item in t.items])
    return leaf(t)


def leaves(t: Type) -> list[Type]:
    """The scalars, unknowns and type variables a type is made of."""
    found: list[Type] = []

    def keep(x: Type) -> Type:
        found.append(x)
        return x

    t = prune(t)
    if isinstance(t, Index):
        return [t]
    if isinstance(t, Array):
        return leaves(t.elem)
    if isinstance(t, (Tuple, Record)):
        return [x for item in t.items for x in leaves(item)]
    return [keep(t)]


def sizes_in(t: Type) -> list[Poly]:
    found: list[Poly] = []

    def keep(p: Poly) -> Poly:
        found.append(p)
        return p

    rebuild(t, lambda x: x, keep)
    return found


def array_sizes(t: Type) -> list[Poly]:
    """The extents of all arrays in a type (an index's bound is not an extent)."""
    t = prune(t)
    if isinstance(t, Array):
        return [t.size, *array_sizes(t.elem)]
    if isinstance(t, (Tuple, Record)):
        return [p for item in t.items for p in array_sizes(item)]
    return []


def extents(t: Type) -> tuple[list[Poly], Type]:
    """The leading axes, and what is below them."""
    found, t = [], prune(t)
    while isinstance(t, Array):
        found.append(t.size)
        t = prune(t.elem)
    return found, t


class Typer:
    """Unification for one operator."""

    def __init__(self) -> None:
        self.solver: Solver[Reason] = Solver()
        self.abstract: dict[Atom, Poly] = {}  # sizes that are rigid in a block: their values outside
        self.names: dict[Atom, str] = {}

    # -- sizes

    def fresh_size(self, level: int, name: str = "s") -> Poly:
        return self.solver.fresh(name, level)

    def size(self, p: Poly) -> Poly:
        """p with everything known put in."""
        return self.solver.resolve(p)

    def final_size(self, p: Poly) -> Poly:
        """p outside all blocks: abstract sizes replaced by their values."""
        p = self.solver.resolve(p)
        while any(leaf in self.abstract for leaf in p.leaves()):
            p = self.solver.resolve(p.subst(self.abstract))
        return p

    # -- unification

    def unify(self, found: Type, expected: Type, span: Span, rule: str = "", text: str | None = None) -> None:
        """Make two types equal; the error shows both in full."""
        why = Reason(span, found, expected, rule, text)
        if not self._unify(found, expected, why):
            self.mismatch(why)

    def _unify(self, a: Type, b: Type, why: Reason) -> bool:
        a, b = prune(a), prune(b)
        if a is b or a == b:
            return True
        if isinstance(a, Unknown):
            return self._bind(a, b)
        if isinstance(b, Unknown):
            return self._bind(b, a)
        if isinstance(a, Array) and isinstance(b, Array):
            self.solver.equate(a.size, b.size, why)
            return self._unify(a.elem, b.elem, why)
        if isinstance(a, Index) and isinstance(b, Index):
            self.solver.equate(a.size, b.size, why)
            return True
        if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
            return all(self._unify(x, y, why) for x, y in zip(a.items, b.items, strict=True))
        return isinstance(a, Record) and isinstance(b, Record) and a.decl == b.decl

    def _bind(self, unknown: Unknown, t: Type) -> bool:
        if isinstance(t, Unknown):
            family = narrow(unknown.family, t.family)
            if family is None:
                return False
            t.family = family
        elif isinstance(t, Generic):
            family = narrow(unknown.family, t.family)
            if family is None:
                return False
            t.family = family
        elif isinstance(t, Scalar):
            if not belongs(unknown.family, t):
                return False
        elif unknown.family != "any" or any(x is unknown for x in leaves(t)):
            return False
        unknown.bound = t
        return True

    def require(self, t: Type, family: str, span: Span, op: str) -> None:
        """t must be a scalar of this family."""
        t = prune(t)
        if isinstance(t, (Unknown, Generic)):
            narrowed = narrow(t.family, family)
            if narrowed is not None:
                t.family = narrowed
                return
        elif isinstance(t, Scalar) and belongs(family, t):
            return
        from atoll.madl.helps import family as help_for

        fail("E0915", span, op=op, shown=self.show(t), help=help_for(family, t))

    # -- results

    def resolve(self, t: Type) -> Type:
        return rebuild(t, lambda x: x, self.size)

    def final(self, t: Type) -> Type:
        return rebuild(t, lambda x: x, self.final_size)

    def show(self, t: Type) -> str:
        return show_type(self.resolve(t), self.names)

    def mismatch(self, why: Reason, notes: list[str] | None = None) -> NoReturn:
        assert why.found is not None and why.expected is not None
        from atoll.madl.helps import fits

        help_ = fits(self.resolve(why.found), self.resolve(why.expected), why.span.text() if why.text is None else why.text)
        fail("E0910", why.span, first=self._told(why.found), second=self._told(why.expected), notes=notes, help=help_)

    def _told(self, t: Type) -> str:
        """A type in a message: a literal whose type is not known yet is a number."""
        known = prune(t)
        return {"number": "a number", "integer": "a whole number", "real": "a number with a point"}.get(known.family, "_") if isinstance(known, Unknown) else self.show(t)

    def check_solved(self) -> None:
        """No equation may be left."""
        for equation in self.solver.pending:
            left, right = self.size(equation.left), self.size(equation.right)
            why = equation.reason
            difference = left - right
            if not self.solver.open_unknowns(difference):
                if why.found is None:
                    fail("E0911", why.span, left=self.show_size(left), right=self.show_size(right), help="the sizes given do not fit")
                note = f"Size {self.show_size(left)} is not compatible with size {self.show_size(right)}"
                self.mismatch(why, [why.rule or note])
        for equation in self.solver.pending:
            left, right = self.size(equation.left), self.size(equation.right)
            why = equation.reason
            notes = [f"{self.show(why.found)} must be {self.show(why.expected)}"] if why.found and why.expected else []
            fail("E0911", why.span, left=self.show_size(left), right=self.show_size(right), notes=notes)

    def show_size(self, p: Poly) -> str:
        return show_size_named(self.size(p), self.names)


def narrow(a: str, b: str) -> str | None:
    """The family of what belongs to both."""
    if a == b:
        return a
    first, second = sorted((a, b), key=_NARROWER.index)
    if first in ("any", "scalar") or (first == "number" and second in ("real", "integer", "float")) or (first, second) == ("real", "float"):
        return second
    return None


def show_size_named(p: Poly, names: Mapping[Any, str]) -> str:
    env: dict[Atom, Poly] = {}
    for leaf in p.leaves():
        if leaf in names and repr(leaf) != names[leaf]:
            env[leaf] = Poly({(Sym(names[leaf]),): 1})
    return show_size(p.subst(env) if env else p)


def show_type(t: Type, names: Mapping[Any, str] | None = None) -> str:
    """`[n][3]int`, as it is written in MADL."""
    names = names or {}
    t = prune(t)
    if isinstance(t, Array):
        inner = show_type(t.elem, names)
        return f"[{show_size_named(t.size, names)}]" + (f"({inner})" if isinstance(prune(t.elem), Tuple) else inner)
    if isinstance(t, Index):
        return f"idx<<{show_size_named(t.size, names)}>>"
    if isinstance(t, Record):
        return t.decl.name
    if isinstance(t, Tuple):
        return "*".join(f"({show_type(x, names)})" if isinstance(prune(x), Tuple) else show_type(x, names) for x in t.items)
    if isinstance(t, Enum):
        return t.name
    if isinstance(t, Fixed):
        return repr(t)
    if isinstance(t, Scalar):
        return "int" if t == INT else t.dtype.name
    if isinstance(t, Generic):
        return names.get(t, t.name)
    return "_"
