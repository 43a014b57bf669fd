"""What loops cost, as formulas of the sizes: the same things `loops/count.py` counts at concrete sizes.

Every part of a function (the body of a loop, a branch, what a test guards) is a *place*; a formula says how often it is reached, and what stands there is counted once.
Loops whose bounds are polynomials of sizes and of indices around them are summed up (sizes/sums.py), tests on indices cut ranges. Where data decide (a test of values,
a loop between bounds that were read) the number of times is an *unknown* with a name; what is inside is again a formula of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.show import expr as show_expr
from atoll.loops.show import tests_text as show_tests
from atoll.sizes import Atom, Poly, Sym, floordiv, poly
from atoll.sizes.prover import Facts, facts
from atoll.sizes.sums import NONE, ONCE, Ratio, clamp, holds, plain, total, where

_SIGNS = {"ge": ">=", "eq": "==", "ne": "!="}
SORTS = ("argsort", "sort")


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted; of formulas, or of numbers."""

    operations: Any
    bytes_read: Any
    bytes_written: Any
    rounds: Any

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.operations + other.operations, self.bytes_read + other.bytes_read, self.bytes_written + other.bytes_written, self.rounds + other.rounds)


@dataclass(frozen=True, slots=True)
class Unknown:
    """How often something happens that data decide. `of` is what it is about: a loop, a test, an expression, a routine."""

    sym: Sym
    kind: str  # rounds, true, second, passed, kept
    of: Any
    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """One of the outermost loops, or what stands outside of any, and what it costs."""

    name: str
    cost: Tally


@dataclass(frozen=True, slots=True)
class Formulas:
    """The cost of a function, its parts, and what its unknowns mean."""

    whole: Tally
    nests: tuple[Nest, ...]
    unknowns: tuple[Unknown, ...]
    names: tuple[Sym, ...]  # sizes and integer arguments


@dataclass(frozen=True, slots=True)
class Loop:
    sym: Sym
    low: Poly
    high: Poly
    known: Facts  # outside


@dataclass(eq=False, slots=True)
class Place:
    """Somewhere in a function: how often its outermost part is reached, and the loops and tests between that and here."""

    base: Ratio | tuple[str, Any, str, str] | tuple[Place, Place]  # a number, an unknown to be (kind, of, name, text), or a difference
    levels: tuple[Loop | Poly, ...]
    known: Facts
    syms: frozenset[Atom]  # that formulas here may mention, besides sizes
    reached: Ratio | None = None


@dataclass(slots=True)
class Weights:
    """What stands at a place, counted once."""

    operations: int = 0
    read: int = 0
    written: int = 0
    rounds: int = 0


def formulas(fn: lp.Function, known: Iterable[Poly] = ()) -> Formulas:
    """The cost of loops. `known`: what is not negative besides sizes."""
    return _Walk(fn, known).run()


@dataclass(slots=True)
class _Group:
    name: str
    weights: dict[int, tuple[Place, Weights]] = field(default_factory=dict)


class _Walk:
    def __init__(self, fn: lp.Function, known: Iterable[Poly]) -> None:
        self.fn = fn
        self.env: dict[Atom, Poly] = {}
        names = list(fn.sizes)
        for p in fn.inputs:
            if isinstance(p, lp.Var) and p.dtype.kind in "iu":
                names.append(Sym(p.name))
                self.env[p.atom] = poly(names[-1])
        self.names = tuple(names)
        self.fixed = frozenset(names)
        sizes = [poly(s) for s in fn.sizes]
        self.sizes = facts(tuple(sizes)).add(p for p in known if p.leaves() <= self.fixed)
        self.group = _Group("")
        self.groups: list[_Group] = []
        self.unknowns: list[Unknown] = []
        self.taken: dict[str, int] = {}
        self.lets: dict[lp.Var, lp.Expr] = {}

    def run(self) -> Formulas:
        start = Place(ONCE, (), self.sizes, frozenset())
        outside = self.group = _Group("outside of loops")
        self.groups.append(outside)
        for stmt in self.fn.body:
            named = _name(stmt)
            if named:
                self.group = _Group(named)
                self.groups.append(self.group)
            else:
                self.group = outside
            self.stmts([stmt], start)
        nests = tuple(Nest(g.name, self.summed(g)) for g in self.groups if g.weights)
        whole = Tally(NONE, NONE, NONE, NONE)
        for nest in nests:
            whole = whole + nest.cost
        return Formulas(whole, nests, tuple(self.unknowns), self.names)

    def summed(self, group: _Group) -> Tally:
        found = [NONE, NONE, NONE, NONE]
        for place, w in group.weights.values():
            times = self.count(place)
            for k, weight in enumerate((w.operations, w.read, w.written, w.rounds)):
                if weight:
                    found[k] = found[k] + times.times(weight)
        return Tally(*found)

    # -- places

    def count(self, place: Place) -> Ratio:
        """How often a place is reached."""
        if place.reached is None:
            times = ONCE
            for level in reversed(place.levels):
                times = where(level, times, self.sizes) if isinstance(level, Poly) else total(times, level.sym, level.low, level.high, level.known)
            place.reached = times * self.base(place) if times.num.terms else NONE
        return place.reached

    def base(self, place: Place) -> Ratio:
        if isinstance(place.base, Ratio):
            return place.base
        if isinstance(place.base[0], Place):
            whole, part = place.base
            return self.count(whole) - self.count(part)
        kind, of, name, text = place.base
        number = self.taken[name] = self.taken.get(name, 0) + 1
        sym = Sym(name if number == 1 and kind == "rounds" else f"{name}_{number}")
        self.unknowns.append(Unknown(sym, kind, of, text))
        return Ratio(poly(sym))

    def unknown(self, kind: str, of: Any, name: str, text: str) -> Place:
        return Place((kind, of, name, text), (), self.sizes, frozenset())

    def factor(self, place: Place, p: Poly, known: Iterable[Poly] = ()) -> Place:
        """Where a number that is 1 or 0 is 1."""
        if p == poly(1):
            return place
        return Place(place.base, (*place.levels, p), place.known.add(q for q in known if plain(q)), place.syms)

    def add(self, place: Place, operations: int = 0, read: int = 0, written: int = 0, rounds: int = 0) -> None:
        _, w = self.group.weights.setdefault(id(place), (place, Weights()))
        w.operations, w.read, w.written, w.rounds = w.operations + operations, w.read + read, w.written + written, w.rounds + rounds

    # -- values of integers

    def poly(self, p: Poly) -> Poly:
        while any(leaf in self.env for leaf in p.leaves()):
            p = p.subst(self.env)
        return p

    def here(self, p: Poly, place: Place) -> Poly | None:
        """A polynomial as a formula of what is known at a place, or None when data or indices further out are in it."""
        p = self.poly(p)
        return p if all(leaf in self.fixed or leaf in place.syms for leaf in p.leaves()) else None

    def value(self, e: lp.Expr, place: Place) -> Poly | None:
        """The value of an integer, where it is a formula."""
        match e:
            case lp.Index(p):
                return self.here(p, place)
            case lp.Const(value, dtype) if dtype.kind in "iu":
                return poly(int(value))
            case lp.Use(var):
                return self.here(poly(var.atom), place) if var.atom in self.env else None
            case lp.Cast(arg, dtype) if dtype.kind == "i" and dtype.size == 8 and arg.dtype.kind in "iu":
                return self.value(arg, place)
            case lp.Call(op, (a, b), dtype) if dtype.kind == "i" and dtype.size == 8 and op in ("add", "sub", "mul", "min", "max", "extent", "floordiv", "mod"):
                x, y = self.value(a, place), self.value(b, place)
                if x is None or y is None:
                    return None
                if op == "extent":
                    return clamp(y - x, place.known)
                if op in ("floordiv", "mod"):
                    if (y.const() or 0) < 1:
                        return None
                    return floordiv(x, y) if op == "floordiv" else x - y * floordiv(x, y)
                made = {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "min": lambda: x - clamp(x - y, place.known), "max": lambda: y + clamp(x - y, place.known)}
                return made[op]()
            case lp.Choose(tests, then, orelse) if then.dtype.kind == "i":
                held, x, y = self.all_hold(tests, place), self.value(then, place), self.value(orelse, place)
                return None if held is None or x is None or y is None else held * x + (1 - held) * y
        return None

    def holds(self, t: lp.Test, place: Place) -> Poly | None:
        """1 or 0, where a test is about indices and sizes."""
        if t.poly is None:
            return None
        p = self.here(t.poly, place)
        if p is None:
            return None
        return holds(p, known=place.known) if t.kind == "ge" else holds(p, True, place.known) if t.kind == "eq" else 1 - holds(p, True, place.known)

    def all_hold(self, tests: tuple[lp.Test, ...], place: Place) -> Poly | None:
        held = poly(1)
        for t in tests:
            one = self.holds(t, place)
            if one is None:
                return None
            held, place = held * one, self.under(t, one, place)
        return held

    def under(self, t: lp.Test, held: Poly, place: Place) -> Place:
        """Where a test about indices holds."""
        assert t.poly is not None
        p = self.poly(t.poly)
        return self.factor(place, held, (p,) if t.kind == "ge" else (p, -p) if t.kind == "eq" else ())

    # -- expressions

    def bound(self, p: Poly) -> str:
        """A bound as text, in which what was read stands as it was read."""
        named = {leaf: poly(Sym(self.words(lp.Use(leaf.var)))) for leaf in p.leaves() if isinstance(leaf, lp.VarAtom) and leaf.var in self.lets}
        return lp.in_words(p.subst(named) if named else p)

    def words(self, what: lp.Expr | tuple[lp.Test, ...]) -> str:
        """Tests or an expression as text, with what is read in place of names of the compiler's."""

        def written_out(e: lp.Expr, depth: int) -> lp.Expr:
            match e:
                case lp.Use(var) if depth and isinstance(self.lets.get(var), (lp.Load, lp.Use, lp.Index, lp.Call, lp.Cast)):
                    return written_out(self.lets[var], depth - 1)
                case lp.Call(op, args, dtype):
                    return lp.Call(op, tuple(written_out(a, depth) for a in args), dtype)
                case lp.Cast(arg, dtype):
                    return lp.Cast(written_out(arg, depth), dtype)
            return e

        if isinstance(what, tuple):
            text = " and ".join(
                show_tests((lp.Test(t.kind, t.poly, None if t.expr is None else written_out(t.expr, 3)),)) if t.poly is None else f"{self.bound(t.poly)} {_SIGNS[t.kind]} 0"
                for t in what
            )
        else:
            text = show_expr(written_out(what, 3))
        return re.sub(r"__p?\d+", "", text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text)

    def expr(self, e: lp.Expr, place: Place) -> None:
        match e:
            case lp.Load(b, _):
                self.add(place, read=_size(b))
            case lp.Call("and" | "or", (a, b), dtype) if dtype.kind == "b":
                self.expr(a, place)
                if _costs(b):
                    self.expr(b, self.unknown("second", e, "second", f"how often {self.words(b)} is looked at"))
            case lp.Call(op, args, _):
                if op != "extent":
                    self.add(place, operations=1)
                for a in args:
                    self.expr(a, place)
            case lp.Cast(arg, _):
                self.expr(arg, place)
            case lp.Choose(tests, then, orelse):
                yes, no = self.branches(tests, place)
                self.expr(then, yes)
                self.expr(orelse, no)
            case lp.Truth(tests):
                self.tests(tests, place)

    def tests(self, tests: tuple[lp.Test, ...], place: Place, certain: bool = False) -> Place:
        """The costs of tests; where all of them hold. Later ones are looked at only where earlier ones do. `certain`: they all do."""
        for k, t in enumerate(tests):
            if t.expr is not None:
                self.expr(t.expr, place)
            if certain:
                continue
            held = self.holds(t, place)
            if held is not None:
                place = self.under(t, held, place)
            else:
                place = self.unknown("true", t, "true", f"how often {self.words(tests[: k + 1])} holds")
        return place

    def branches(self, tests: tuple[lp.Test, ...], place: Place) -> tuple[Place, Place]:
        yes = self.tests(tests, place)
        held = self.all_hold(tests, place)
        if held is None:
            return yes, Place((place, yes), (), self.sizes, frozenset())
        no = [q for t in tests[:1] if len(tests) == 1 and t.kind == "ge" for q in [-self.poly(t.poly) - 1] if t.poly is not None]  # type: ignore[arg-type]
        return yes, self.factor(place, 1 - held, no)

    # -- statements

    def stmts(self, stmts: lp.Stmts, place: Place, leaving: Place | None = None) -> None:
        """`leaving`: where the only break of a loop is that these are the body of, how often the loop is entered."""
        for stmt in stmts:
            if isinstance(stmt, lp.BreakUnless):
                yes = self.tests(stmt.tests, place)
                if leaving is not None:
                    place = Place((place, leaving), (), self.sizes, frozenset())
                elif yes is not place:
                    place = self.unknown("passed", stmt, "passed", f"how often a loop goes on where {self.words(stmt.tests)} is asked")
            else:
                self.stmt(stmt, place)

    def stmt(self, stmt: lp.Stmt, place: Place) -> None:
        match stmt:
            case lp.Let(var, value) | lp.Assign(var, value) | lp.Declare(var, value):
                if value is not None:
                    self.expr(value, place)
                if isinstance(stmt, lp.Let) and value is not None:
                    self.lets[var] = value
                if isinstance(stmt, lp.Let) and value is not None and var.dtype.kind == "i":
                    known = self.value(value, place)
                    if known is not None:
                        self.env[var.atom] = known
            case lp.Store(b, _, value):
                self.expr(value, place)
                self.add(place, written=_size(b))
            case lp.Update(b, _, _, value):
                self.expr(value, place)
                self.add(place, operations=1, read=_size(b), written=_size(b))
            case lp.Add(_, _, value):
                self.expr(value, place)
                self.add(place, operations=1)
            case lp.For(sym, low, high, body) | lp.Accumulate(sym, low, high, body):
                inside = self.loop(stmt, sym, low, high, place)
                self.add(inside, rounds=1)
                self.stmts(body, inside)
            case lp.Chunks():
                self.chunks(stmt, place)
            case lp.If(tests, then, orelse):
                yes, no = self.branches(tests, place)
                self.stmts(then, yes)
                self.stmts(orelse, no)
            case lp.Forever(body):
                inside = self.unknown("rounds", stmt, "rounds_of_while", "rounds of a loop that runs while a test holds")
                self.add(inside, rounds=1)
                breaks = sum(isinstance(s, lp.BreakUnless) for s in lp.walk(body))
                once = breaks == 1 and any(isinstance(s, lp.BreakUnless) for s in body)
                self.stmts(body, inside, place if once else None)
            case lp.Check(tests, _, _):
                self.tests(tests, place, certain=True)
            case lp.Helper():
                self.helper(stmt, place)
            case lp.CopyBuffer(target, source):
                self.add(self.cells(source.extents, place, stmt), read=_size(source), written=_size(target))
            case lp.Print(parts):
                for part in parts:
                    for x in () if isinstance(part, str) else part[1]:
                        if not isinstance(x, lp.Buffer):
                            self.expr(x, place)
            case lp.Product():
                self.stmts(stmt.body, place)
                self.stmts(stmt.after, place)
            case lp.Section(_, body):
                self.stmts(body, place)

    def loop(self, stmt: Any, sym: Sym, low: Poly, high: Poly, place: Place) -> Place:
        first, last = self.here(low, place), self.here(high, place)
        if first is None or last is None:
            return self.unknown("rounds", stmt, f"rounds_of_{_word(sym.name)}", f"rounds of the loop over {_word(sym.name)} from {self.bound(low)} to {self.bound(high)}")
        inside = place.known.add(p for p in (poly(sym) - first, last - 1 - sym) if plain(p))
        return Place(place.base, (*place.levels, Loop(sym, first, last, place.known)), inside, place.syms | {sym})

    def cells(self, extents: Iterable[Poly], place: Place, stmt: Any) -> Place:
        """Every element of an array."""
        for p in extents:
            place = self.loop(stmt, Sym("cell"), poly(0), p, place)
        return place

    def chunks(self, stmt: lp.Chunks, place: Place) -> None:
        """All pieces in one, as in `counted`."""
        extent = self.here(stmt.extent, place)
        if extent is None:
            inside = self.unknown("entered", stmt, f"pieces_of_{_word(stmt.low.name)}", f"how often there is a piece of {self.bound(stmt.extent)}")
        else:
            inside = self.factor(place, holds(extent - 1, known=place.known), (extent - 1,))
            self.env[stmt.low], self.env[stmt.high] = poly(0), extent
        self.stmts(stmt.body, inside)

    def helper(self, h: lp.Helper, place: Place) -> None:
        if h.name in SORTS:
            (keys, _), (out, _) = h.buffers
            self.add(self.cells(h.sizes[:1], place, h), read=_size(keys), written=_size(out))
        elif h.name == "compress":
            (values, _), (flags, _), (out, _) = h.buffers
            self.add(self.cells(h.sizes[:1], place, h), read=_size(flags))
            self.add(self.unknown("kept", h, "kept", f"how many elements of {values.shown} are kept"), read=_size(values), written=_size(out))
        elif h.name == "stream":
            self.add(self.cells(h.sizes[:1], place, h), written=_size(h.buffers[0][0]))


def _costs(e: lp.Expr) -> bool:
    """Whether evaluating an expression counts for anything."""
    return any(isinstance(x, (lp.Load, lp.Call)) for x in lp.subexprs(e))


def _size(b: lp.Buffer) -> int:
    """Bytes of an element that comes from memory; small arrays of the compiler's are as good as registers."""
    return 0 if b.local else b.dtype.size


def _word(name: str) -> str:
    return name.partition("__")[0]


def _name(stmt: lp.Stmt) -> str:
    """What an outermost loop is called."""
    if isinstance(stmt, lp.Product):
        return f"product {stmt.target.buffer.shown}"
    if isinstance(stmt, (lp.For, lp.Accumulate)):
        return f"loop over {_word(stmt.sym.name)}"
    if isinstance(stmt, lp.Chunks):
        inner = next((s for s in lp.walk(stmt.body) if isinstance(s, (lp.For, lp.Accumulate))), None)
        return f"loop over {_word((stmt.low if inner is None else inner.sym).name)}"
    if isinstance(stmt, lp.Forever):
        return "while loop"
    if isinstance(stmt, lp.CopyBuffer):
        return f"copy of {stmt.source.shown}"
    if isinstance(stmt, lp.Helper):
        return stmt.name
    if isinstance(stmt, (lp.If, lp.Section)):
        inside = next((s for s in lp.walk([stmt]) if isinstance(s, (lp.For, lp.Accumulate))), None)
        return "" if inside is None else f"loop over {_word(inside.sym.name)}"
    return ""


__all__ = ["Formulas", "Nest", "Tally", "Unknown", "formulas"]
