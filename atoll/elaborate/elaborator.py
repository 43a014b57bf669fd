"""The state of one function while it is elaborated: scope, statements under construction, hypotheses, sizes.

Elaboration walks a body once, in order, and makes core code with every type, map and size explicit. Types and ranks are decided as
the walk goes (an error stops it); equations between sizes are collected and solved at the end, so a wrong size is only reported
in a program whose types fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.entities import Home, Scope, Value
from atoll.elaborate.ranks.analysis import reading_at
from atoll.errors import NOWHERE, Span, fail, make
from atoll.sizes import Atom, Poly, Sym, Temporary, poly
from atoll.sizes.prover import Facts, facts
from atoll.sizes.solver import Solver
from atoll.types.types import I64_T, Array, Index, Scalar, Type, map_sizes, sizes_in, strong, told_apart
from atoll.types.unions import type_key

if TYPE_CHECKING:
    from atoll.elaborate.namespace import Namespace
    from atoll.elaborate.session import Session
    from atoll.elaborate.shared_memory import View


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why two sizes must be equal, for the error if they are not."""

    span: Span
    expected: Type
    found: Type
    what: str
    facts: Facts
    notes: tuple[str, ...] = ()
    alone: bool = False  # no types are shown: the sizes say it all


class Elaborator:
    def __init__(self, session: Session, name: str, home: Home) -> None:
        self.session = session
        self.name = name
        self.home = home  # of the text that is being read
        self.scope = Scope()
        self.callers: tuple[Scope, ...] = ()  # the scopes of the calls that are being expanded
        self.expansions: tuple[tuple[int, ...], ...] = ()  # and which they are (elaborate/expansion.py)
        self.frames: list[list[ir.Stmt]] = []
        self.facts: Facts = facts()
        self.solver: Solver[Mismatch] = Solver(nonneg=lambda p, why: why.facts.proves(p))
        self.level = 0
        self.lazy = 0  # > 0 inside a branch or a loop: what is reached there need not be reached
        self.entry_sizes: set[Atom] = set()  # known before any code runs
        self.requires: list[ir.Require] = []
        self.checks_inside = False  # some requirement is checked where it arises
        self.inserted: list[tuple[Span, str, tuple[int, ...], tuple[int, ...]]] = []  # place, what, axes mapped over, reps; per argument
        self.notes: list[tuple[Span, str]] = []
        self.labels: dict[Atom, str] = {}  # sizes nobody named, in the user's words: len(ys), len(rep(x)), n of f
        self._shown: dict[str, Sym] = {}
        self.origins: dict[Atom, Span] = {}  # where a size that only a value knows is made
        self.flexible = False  # a polymorphic function was applied
        self.matches = 0  # subjects of `match` that were given a name
        self.repeated = 0  # values that were repeated because they have too few axes
        self.large_literals = False  # a number that only u64 holds was written
        self.unsure: list[Span] = []  # local functions read as they are called, because no type was found
        self.loop_types: dict[int, tuple[Type, ...]] = {}
        self.same_before: dict[Sym, list[str]] = {}  # state of a loop: other names of its first value
        self.warned: set[Span] = set()
        self.views: dict[tuple[en.Frame, str], View] = {}  # names that share memory in NumPy (shared_memory.py)
        self.live: frozenset[str] = frozenset()  # names that are read after the statement at hand, which does not bind them
        self.locals: list[Any] = []  # local recursive functions defined so far (function_values.Local)
        self.opened: list[tuple[Sym, list[ir.Stmt], dict[str, Value]]] = []  # fields of records whose own sizes were opened, by variable and block
        self.made: list[tuple[ir.Expr, Any]] = []  # closures that exist at run time, and the functions they were made of
        self.came_from: dict[int, tuple[Any, tuple[Any, ...]]] = {}  # of what a name means after branches: what it meant at their ends
        self.made_of: dict[Sym, Any] = {}  # the same by variable; None for one that was made elsewhere
        self.places_of_masks: list[tuple[Sym, list[ir.Stmt], Value]] = []  # where masks are true, by variable and block
        self.stepped_ranges: list[tuple[Any, list[ir.Stmt], en.Iterable]] = []  # ranges whose step only running decides, by bounds and block
        self.sizes_made: list[tuple[Any, Sym, list[ir.Stmt]]] = []  # integers that are sizes: what computes each, its variable and block
        self.returns: Type | None = None  # the declared result of the function whose body this is
        self.hidden: Type | None = None  # the declared result, when branches return arrays of different sizes

    # -- the text that is being read

    @property
    def namespace(self) -> Namespace:
        return self.home.namespace

    @property
    def definition(self) -> Any:
        """The function whose text is read (elaborate/ranks analyses it as a whole)."""
        return self.home.definition

    @contextmanager
    def inside(self, home: Home, scope: Scope) -> Iterator[None]:
        """Read text that stands elsewhere: with its own surroundings and names, and nothing of those here."""
        saved = self.home, self.scope, self.callers, self.hidden, self.returns
        self.home, self.callers, self.scope, self.hidden, self.returns = home, (*self.callers, self.scope), scope, None, None
        try:
            yield
        finally:
            self.home, self.scope, self.callers, self.hidden, self.returns = saved

    # -- errors

    def fail(self, code: str, span: Span, **parts: object) -> NoReturn:
        if parts.get("found") == "a text" and parts.get("help") is None:
            parts["help"] = "there are texts in print(...) and assert only; print(a, b) and f\"{x}\" put them together, ord('a') is the number of a character"
        fail(code, span, where=self.name, **parts)

    # -- statements

    def emit(self, stmt: ir.Stmt) -> None:
        self.frames[-1].append(stmt)

    def bind(self, value: Value, name: str | None = None, temporary: str = "t") -> Value:
        """The value under a name of its own, so that using it twice does not compute it twice."""
        if isinstance(value.expr, ir.Var) and isinstance(value.expr.sym, Temporary) and name is not None:
            value.expr.sym.given = value.expr.sym.given or name
        if isinstance(value.expr, (ir.Var, ir.Lit, ir.SizeOf, ir.ConstArray)):
            return value
        if isinstance(value.expr, ir.MakeTuple):  # the parts get names, the tuple stays visible
            from atoll.elaborate.coerce import make_tuple, project

            count = range(len(value.expr.items))
            parts = [self.bind(project(value, k), None if name is None else f"{name}_{k}", f"{temporary}_{k}") for k in count]
            return make_tuple(parts, value.type, value.expr.span)
        sym = Temporary(temporary) if name is None else Sym(name)
        self.emit(ir.Bind(sym, value.expr))
        if isinstance(value.expr, ir.Closure):
            self.made_of[sym] = next((entity for expr, entity in reversed(self.made) if expr is value.expr), None)
        known = value.poly
        if known is None and isinstance(value.type, (Scalar, Index)) and value.type.dtype.name == "i64" and getattr(value.type, "weak", 0) != 2:
            known = poly(sym)
            if isinstance(value.type, Index):
                self.assume(known, value.type.size - 1 - known)
        return Value(
            ir.Var(sym, type=value.expr.type, span=value.expr.span), value.type, known, value.holds, value.fails, value.ones
        )

    @contextmanager
    def block(self) -> Iterator[None]:
        """Collect statements; `close` ends the block with its result."""
        self.frames.append([])
        before = len(self.frames)
        try:
            yield
        except BaseException:
            del self.frames[before - 1 :]
            raise

    def close(self, result: ir.Expr, *params: Sym) -> ir.Expr:
        """End the block with its result, whose sizes must make sense outside it: without the parameters of the block."""
        stmts = self.frames.pop()
        if self.frames:
            self._check_escape(stmts, result, params)
        return ir.Block(tuple(stmts), result, type=result.type, span=result.span) if stmts else result

    def _check_escape(self, stmts: list[ir.Stmt], result: ir.Expr, params: tuple[Sym, ...]) -> None:
        if isinstance(result, ir.MakeTuple):  # say which part it is
            for item in result.items:
                self._check_escape(stmts, item, params)
            return
        leaves = {leaf for size in sizes_in(self.resolve(result.type)) for leaf in size.leaves()}
        if not leaves:
            return
        for sym in params:
            if sym in leaves:
                self.fail("E0310", result.span, name=self.words(poly(sym)), found=self.show(result.type))
        inner = {stmt.sym for stmt in stmts if isinstance(stmt, ir.Bind)}
        inner |= {sym for stmt in stmts if isinstance(stmt, ir.Open) for sym in stmt.sizes}
        escaping = leaves & inner
        if escaping:
            first = min(escaping, key=lambda leaf: self.words(poly(leaf)))
            notes = self.lift_notes(result.span) + self._origin_notes(poly(first))
            self.fail("E0309", result.span, name=self.words(poly(first)), found=self.show(result.type), notes=notes)

    # -- hypotheses

    def assume(self, *polys: Poly) -> None:
        """Facts that hold from here on."""
        self.facts = self.facts.add(polys)

    @contextmanager
    def hypotheses(self, *polys: Poly, lazy: bool = True) -> Iterator[None]:
        """Facts that hold inside only."""
        saved = self.facts
        self.facts = self.facts.add(polys)
        self.lazy += lazy
        try:
            yield
        finally:
            self.facts = saved
            self.lazy -= lazy

    @contextmanager
    def alternatives(self) -> Iterator[Callable[[], None]]:
        """Branches of which one runs: call what this gives before each. Closures made in one are not there in another, and are all there afterwards."""
        before, found = len(self.made), []

        def turn() -> None:
            found.extend(self.made[before:])
            del self.made[before:]

        yield turn
        turn()
        self.made += found

    @contextmanager
    def inner_scope(self) -> Iterator[Scope]:
        saved = self.scope
        self.scope = saved.child()
        try:
            yield self.scope
        finally:
            self.scope = saved

    def require(self, p: Poly, text: str, span: Span) -> None:
        """p >= 0: dropped where it can be proved, checked on entry where it is about sizes only, checked here otherwise."""
        if (c := p.const()) is not None and c < 0:
            backwards = re.search(r"\[(\d+):(\d+)\]", text)
            help_ = f"a slice goes forwards: [{backwards[2]}:{backwards[1]}], or [{backwards[1]}:{backwards[2]}:-1] for backwards" if backwards and int(backwards[1]) > int(backwards[2]) else None
            self.fail("E0306", span, what=text, short=-c, help=help_)
        if self.facts.proves(p):
            return
        need = ir.Require(p, text, span, self.facts)
        if not self.lazy and all(leaf in self.entry_sizes for leaf in p.leaves()):
            self.requires.append(need)
        else:
            self.checks_inside = True
            self.emit(need)
        self.assume(p)

    # -- sizes

    def fresh_index(self, name: str, size: Poly) -> Value:
        """A new index 0 <= i < size; the facts about it are the caller's to add."""
        sym = Sym(name)
        self.solver.rigid[sym] = self.level
        t = Index(size)
        return Value(ir.Var(sym, type=t), t, poly(sym))

    def index_facts(self, index: Value, size: Poly) -> tuple[Poly, Poly]:
        assert index.poly is not None
        return index.poly, size - 1 - index.poly

    def resolve(self, t: Type) -> Type:
        """t with the sizes known so far."""
        return map_sizes(t, self.solver.resolve) if self.solver.solution else t

    def size_value(self, p: Poly, span: Span = NOWHERE) -> Value:
        const = p.const()
        if const is not None:
            return Value(ir.Lit(const, type=I64_T, span=span), Scalar(I64_T.dtype, weak=True), p)
        return Value(ir.SizeOf(p, type=I64_T, span=span), I64_T, p)

    def as_poly(self, value: Any, span: Span, what: str = "a size") -> Poly:
        """An integer value as a polynomial; one that is not yet a polynomial is bound to a name that can be a size."""
        if isinstance(value, Value):
            if value.poly is not None:
                return value.poly
            if isinstance(value.type, (Scalar, Index)) and value.type.dtype.is_integer:
                from atoll.elaborate.coerce import to_dtype

                number = to_dtype(self, value, I64_T.dtype, span)
                known = same_number(number.expr)
                found = next((sym for key, sym, block in self.sizes_made if key == known and any(block is frame for frame in self.frames)), None)
                if found is not None and known is not None:
                    return poly(found)
                bound = self.bind(number, None, "k")
                assert isinstance(bound.expr, ir.Var)
                self.sizes_made.append((known, bound.expr.sym, self.frames[-1]))
                self.solver.rigid[bound.expr.sym] = self.level
                if bound.expr.sym not in self.labels and bound.expr.sym.name == "k":
                    self.labels[bound.expr.sym] = bound.expr.span.text() or "k"
                return poly(bound.expr.sym)
            self.fail("E0213", span, what=what, found=self.show(value.type))
        self.fail("E0213", span, what=what, found=describe(value))

    def equate(self, left: Poly, right: Poly, why: Mismatch) -> None:
        self.solver.equate(left, right, why)

    def same_structure(self, expected: Type, found: Type, span: Span, what: str) -> None:
        """Require two types to be equal, their sizes too."""
        if type_key(strong(expected)) != type_key(strong(found)):
            first, second = told_apart(expected, found, self.show)
            self.fail("E0201", span, what=what, expected=first, found=second)
        why = Mismatch(span, expected, found, what, self.facts)
        for a, b in zip(sizes_in(expected), sizes_in(found), strict=True):
            self.equate(a, b, why)

    def fresh_size(self, label: str, level: int | None = None) -> Poly:
        """A size that is to be found; the label says in the user's words which one."""
        made = self.solver.fresh(label, self.level if level is None else level)
        sym = made.single()
        assert sym is not None
        self.labels[sym] = label
        return made

    def words(self, p: Poly) -> str:
        """A size as the user would write it."""
        return repr(self._labelled(self.solver.resolve(p)))

    def _labelled(self, p: Poly) -> Poly:
        named = sorted((leaf for leaf in p.leaves() if leaf in self.labels), key=lambda leaf: leaf.uid)
        return p.subst({leaf: poly(self._shown.setdefault(self.labels[leaf], Sym(self.labels[leaf]))) for leaf in named})

    def show(self, t: Type) -> str:
        return repr(map_sizes(strong(self.resolve(t)), self._labelled))

    def finish_sizes(self) -> None:
        """Solve what is left; report the first equation that does not hold or cannot be decided."""
        self.solver.propagate()
        for equation in self.solver.pending:
            left, right = self.solver.resolve(equation.left), self.solver.resolve(equation.right)
            why = equation.reason
            if why.facts.proves_equal(left, right):
                continue
            unknown = self.solver.open_unknowns(left - right)
            parts: dict[str, Any] = {} if why.alone else {"expected": self.show(why.expected), "found": self.show(why.found)}
            notes = [*why.notes, *self.lift_notes(why.span), *self._origin_notes(left - right)]
            if unknown:
                equation_ = f"{self.words(left)} = {self.words(right)}"
                if self.solver.impossible(left - right):
                    raise make("E0311", why.span, what=why.what, equation=equation_, where=self.name, notes=notes, **parts)
                raise make("E0302", why.span, what=why.what, equation=equation_, where=self.name, notes=notes, **parts)
            sides = {"left": self.words(left), "right": self.words(right)}
            grows = why.what.endswith("after a round")
            decided = any(leaf in self.origins for leaf in (left - right).leaves())
            help_ = _ABOUT_STATE if grows else _ABOUT_ITEMS if why.what == "the items of the array" else _ABOUT_ONE if 1 in (left.const(), right.const()) else _ABOUT_RESULT if decided and why.what == "the result" else None
            raise make("E0301", why.span, what=why.what, where=self.name, notes=notes, help=help_, **sides, **parts)

    def lift_notes(self, span: Span) -> list[str]:
        """How the application at this place was lifted, if it was."""
        if all(place is not span for place, *_ in self.inserted):
            return []

        found = reading_at(self.session, self.definition, span)
        return [f"lifted: {found}"] if found is not None else []

    def _origin_notes(self, p: Poly) -> list[str]:
        """Where the sizes that only a value knows come from."""
        made = sorted((leaf for leaf in p.leaves() if leaf in self.origins and self.origins[leaf].text()), key=lambda leaf: leaf.uid)
        return [f"{self.words(poly(leaf))} is decided by {self.origins[leaf].text()} (line {self.origins[leaf].line})" for leaf in made]


_ABOUT_STATE = "a loop keeps the size of what it carries: make the array in its full size before the loop and assign to its places, or build it at once, [e for i in range(n)]"
_ABOUT_ITEMS = "give every row as many items: there are no ragged arrays; concat(a, b) joins rows of different sizes"
_ABOUT_RESULT = 'declare a size that only running decides: k = at.some("k") beside at.sizes, and k in place of this size after the arrow'
_ABOUT_ONE = "a declared size of 1 is not stretched: index that axis, x[0] or x[:, 0], and what is left is repeated; x[:, 0][:, None] makes an axis that meets any size"


def same_number(e: ir.Expr) -> Any:
    """Equal for expressions that compute the same integer of the same variables; None where that cannot be seen."""
    match e:
        case ir.Var(sym):
            return sym
        case ir.Lit(value):
            return repr(e.type), value
        case ir.SizeOf(p):
            return p
        case ir.Prim(op, args):
            what, parts = op, args
        case ir.Cast(value):
            what, parts = "cast", (value,)
        case ir.At(array, index):
            what, parts = "at", (array, index)
        case ir.Proj(value, k):
            what, parts = f"part {k}", (value,)
        case ir.If(cond, then, orelse):
            what, parts = "if", (cond, then, orelse)
        case _:
            return None
    keys = tuple(same_number(part) for part in parts)
    return None if None in keys else (what, repr(e.type), keys)


def _sizes(t: Type) -> list[Poly]:
    found: list[Poly] = []

    def walk(t: Type) -> None:
        if isinstance(t, Array):
            found.append(t.size)
            walk(t.elem)
        else:
            for item in getattr(t, "items", ()):
                walk(item)

    walk(t)
    return found


def describe(entity: Any) -> str:
    """What an entity is, in the user's words."""
    match entity:
        case Value():
            return repr(strong(entity.type))
        case en.Closure():
            return "a function" if entity.name == "<lambda>" else f"the function {entity.name}"
        case en.FnRef():
            return f"the function {entity.fn.name}"
        case en.Builtin():
            return f"the function {entity.name}"
        case en.TypeRef():
            return f"the type {entity.type!r}"
        case en.Module():
            return f"the module {entity.module.__name__}"
        case en.TextValue():
            return "a text"
        case en.NoneEntity():
            return "None"
        case en.Iterable():
            return "a range"
        case en.Generator():
            return "a generator"
        case en.TupleEntity():
            return "a tuple"
        case en.Display():
            return "a display"
        case en.Declared():
            return describe(entity.fn)
        case en.Choice() | en.Pick() | en.Lifted() | en.Derived():
            return "a function"
        case en.FnArray():
            return "an array of functions"
    return "something unknown"
