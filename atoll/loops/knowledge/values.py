"""What integers and conditions are at a statement of a function, in terms of what is known there (walk.py).

An integer variable has a value in terms of unknowns (its versions), of which polynomials are known that are not negative. Machine integers wrap around:
a sum is the polynomial only if its bounds say so, else an unknown of its own. A value that is one of two (a choice, the smaller, how many numbers there
are in a range) is an unknown with two cases, which a proof takes apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.knowledge.bounds import Bounds
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.machine import stands_alone
from atoll.sizes.prover import facts
from atoll.types.dtypes import BOOL, I64, U64, DType

Fact = tuple[str, Poly]  # ge, eq or ne, and what is compared with 0
Case = tuple[tuple[Poly, ...], Poly]  # under these facts the value is this


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known when a bool holds, and when it does not; None: that cannot be."""

    yes: tuple[Fact, ...] | None = ()
    no: tuple[Fact, ...] | None = ()

    def when(self, holds: bool) -> tuple[Fact, ...] | None:
        return self.yes if holds else self.no


@dataclass(slots=True)
class State:
    """What is known at a statement: values of variables, and polynomials of versions that are not negative."""

    values: dict[lp.Var, Poly] = field(default_factory=dict)
    bools: dict[lp.Var, Truth] = field(default_factory=dict)
    known: tuple[Poly, ...] = ()

    def copy(self) -> State:
        return State(dict(self.values), dict(self.bools), self.known)

    def add(self, *more: Poly) -> None:
        self.known += tuple(p for p in more if p.const() is None and p not in self.known)


class Values:
    """What expressions and tests say; a state is passed along and learns what is found."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.cases: dict[Atom, tuple[Case, Case]] = {}  # versions that have one of several values
        self.made: dict[tuple[str, Poly, Poly], Sym] = {}  # the larger or smaller of two values, by what it is made of
        self.proofs = profit.PROOFS

    # -- proofs

    def proves(self, goal: Poly, known: tuple[Poly, ...], splits: int = profit.PROOF_SPLITS) -> bool:
        const = goal.const()
        if const is not None or self.proofs <= 0:
            return const is not None and const >= 0
        self.proofs -= 1
        if facts(near(goal, known)).follows(goal):
            return True
        for leaf in sorted(goal.leaves(), key=lambda a: -a.uid) if splits else ():
            if leaf in self.cases:
                return all(
                    self.proves(goal.subst({leaf: value}), (*known, *given, poly(leaf) - value, value - leaf), splits - 1) for given, value in self.cases[leaf]
                )
        return False

    def holds(self, fact: Fact, state: State) -> bool:
        kind, p = fact
        if kind == "ge":
            return self.proves(p, state.known)
        return self.proves(p - 1, state.known) or self.proves(-p - 1, state.known)

    def assume(self, found: tuple[Fact, ...] | None, state: State) -> None:
        for kind, p in found or ():
            self.add(kind, p, state)
            state.add(*self.bounds.settled(p, state.known))

    def add(self, kind: str, p: Poly, state: State) -> None:
        if kind == "ge":
            state.add(p)
        elif kind == "eq":
            state.add(p, -p)
        elif p.const() is None:  # i != 0 where i >= 0 is i >= 1
            sign = 1 if self.proves(p, state.known, 0) else -1 if self.proves(-p, state.known, 0) else 0
            if sign:
                state.add(p * sign - 1)

    # -- values

    def fresh(self, dtype: DType, state: State, name: str = "v") -> Poly:
        version = Sym(name)
        if dtype is not I64 and _followed(dtype):
            low, high = dtype.limits()
            state.add(poly(version) - low, high - poly(version))
        return poly(version)

    def machine(self, p: Poly, state: State) -> Poly:
        """What a sum of 64-bit integers is on the machine."""
        return self.bounds.wrapped(p, state.known)

    def index(self, p: Poly, state: State) -> Poly:
        return self.machine(self.of(p, state), state)

    def of(self, p: Poly, state: State) -> Poly:
        env: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, lp.VarAtom):
                env[leaf] = state.values[leaf.var] if leaf.var in state.values else poly(Sym(leaf.var.name))
        return p.subst(env) if env else p

    def value(self, e: lp.Expr, state: State) -> Poly:
        """An integer expression; something unknown where nothing is known of it."""
        if not _followed(e.dtype) or (isinstance(e, lp.Call) and not all(_followed(a.dtype) for a in e.args)):
            return self.fresh(e.dtype, state)
        match e:
            case lp.Use(var) if var in state.values:
                return state.values[var]
            case lp.Const(value, _):
                return poly(int(value))
            case lp.Index(p):
                return self.index(p, state)
            case lp.Load(buffer, _):
                found = self.fresh(e.dtype, state, buffer.name)
                if buffer.within is not None:
                    state.add(found, self.of(buffer.within, state) - found - 1)
                return found
            case lp.Cast(arg, dtype) if arg.dtype is BOOL:
                found = self.fresh(I64, state)
                state.add(found, 1 - found)
                return found
            case lp.Cast(arg, dtype) if _followed(arg.dtype):
                found = self.value(arg, state)
                return found if self.bounds.within(found, state.known, *dtype.limits()) else self.fresh(dtype, state)
            case lp.Choose(tests, then, orelse):
                return self.choice(tests, then, orelse, state)
            case lp.Call(op, (a,), dtype) if op == "neg":
                return self.arithmetic(-self.value(a, state), dtype, state)
            case lp.Call(op, (a, b), dtype) if op in ("add", "sub", "mul"):
                x, y = self.value(a, state), self.value(b, state)
                return self.arithmetic(x + y if op == "add" else x - y if op == "sub" else x * y, dtype, state)
            case lp.Call(op, (a, b), dtype) if op in ("min", "max"):
                return self.extreme(op, self.value(a, state), self.value(b, state), dtype, state)
            case lp.Call("extent", (a, b), _):
                return self.extent(self.value(a, state), self.value(b, state), state)
            case lp.Call(op, (a, b), dtype) if op in ("floordiv", "mod"):
                return self.divided(op, self.value(a, state), self.value(b, state), dtype, state)
        return self.fresh(e.dtype, state)

    def arithmetic(self, p: Poly, dtype: DType, state: State) -> Poly:
        if dtype is I64:
            return self.machine(p, state)
        return p if self.bounds.within(p, state.known, *dtype.limits()) else self.fresh(dtype, state)

    def choice(self, tests: tuple[lp.Test, ...], then: lp.Expr, orelse: lp.Expr, state: State) -> Poly:
        first, second = state.copy(), state.copy()
        self.assume(self.all_hold(tests, first), first)
        self.assume(self.not_all(tests, second), second)
        a, b = self.value(then, first), self.value(orelse, second)
        if a == b:
            return a
        return self.either((first.known[len(state.known) :], a), (second.known[len(state.known) :], b), state)

    def either(self, first: Case, second: Case, state: State, made_of: tuple[str, Poly, Poly] | None = None) -> Poly:
        """A value that is one of two; what is made of the same is the same."""
        found = self.made.setdefault(made_of, Sym("v")) if made_of is not None else Sym("v")
        first, second = self.cases.setdefault(found, (first, second))
        apart = (first[1] - second[1]).const()
        if apart is not None:
            state.add(poly(found) - second[1] - min(0, apart), second[1] + max(0, apart) - found)
        else:
            ranges = [self.bounds.of(p, (*state.known, *given)) for given, p in (first, second)]
            low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
            if low > -(1 << 62):
                state.add(poly(found) - low)
            if high < 1 << 62:
                state.add(high - poly(found))
        return poly(found)

    def extreme(self, op: str, a: Poly, b: Poly, dtype: DType, state: State) -> Poly:
        larger, smaller = ((b - a,), (a - b,)) if op == "min" else ((a - b,), (b - a,))
        found = self.either((larger, a), (smaller, b), state, (op, a, b))
        for x in (a, b):
            state.add(x - found if op == "min" else found - x)
        return found

    def extent(self, a: Poly, b: Poly, state: State) -> Poly:
        """How many numbers there are from a to b: none, or b - a, or as many as the machine can count where that is more."""
        many: Poly = b - a
        more: tuple[Poly, ...] = (many - 1,)
        if not self.bounds.within(many, state.known, -(1 << 63), (1 << 63) - 1):
            many = poly(Sym("k"))
            more += (many - 1, b - a - many)
        found = self.either((more, many), ((a - b,), poly(0)), state, ("extent", a, b))
        state.add(found)
        return found

    def divided(self, op: str, a: Poly, b: Poly, dtype: DType, state: State) -> Poly:
        if not self.proves(b - 1, state.known, 0):
            return self.fresh(dtype, state)
        found, divisor = poly(Sym("q")), b.const()
        if op == "mod":
            state.add(found, b - found - 1)
        elif divisor is not None:
            state.add(a - divisor * found, divisor * found + divisor - 1 - a)
        if self.proves(a, state.known, 0):
            state.add(found, a - found)
        return found

    # -- bools

    def truth(self, e: lp.Expr, state: State) -> Truth:
        match e:
            case lp.Const(value, _):
                return Truth((), None) if value else Truth(None, ())
            case lp.Use(var):
                return state.bools.get(var, Truth())
            case lp.Truth(tests):
                return Truth(self.all_hold(tests, state), self.not_all(tests, state))
            case lp.Call(op, (a, b), _) if op in _COMPARED and _followed(a.dtype):
                return self.compared(op, self.value(a, state), self.value(b, state))
            case lp.Call("not", (a,), _):
                found = self.truth(a, state)
                return Truth(found.no, found.yes)
            case lp.Call(op, (a, b), _) if op in ("and", "or") and a.dtype is BOOL:
                x, y = self.truth(a, state), self.truth(b, state)
                if op == "and":
                    return Truth(None if x.yes is None or y.yes is None else (*x.yes, *y.yes), y.no if x.no is None else x.no if y.no is None else ())
                return Truth(y.yes if x.yes is None else x.yes if y.yes is None else (), None if x.no is None or y.no is None else (*x.no, *y.no))
            case lp.Choose(tests, then, orelse):
                yes, no = self.all_hold(tests, state), self.not_all(tests, state)
                return self.one_of(yes, self.truth(then, state), no, self.truth(orelse, state))
        return Truth()

    def one_of(self, yes: tuple[Fact, ...], a: Truth, no: tuple[Fact, ...], b: Truth) -> Truth:
        """The truth of a where `yes` is known, of b where `no` is."""

        def joined(x: tuple[Fact, ...] | None, y: tuple[Fact, ...] | None) -> tuple[Fact, ...] | None:
            if x is None or y is None:
                return None if x is None and y is None else (*no, *y) if x is None and y is not None else (*yes, *(x or ()))
            both = (*no, *y)
            return tuple(f for f in (*yes, *x) if f in both)

        return Truth(joined(a.yes, b.yes), joined(a.no, b.no))

    def compared(self, op: str, a: Poly, b: Poly) -> Truth:
        if op in ("eq", "ne"):
            same, other = (("eq", a - b),), (("ne", a - b),)
            return Truth(same, other) if op == "eq" else Truth(other, same)
        if op in ("gt", "le"):
            a, b = b, a
        less: tuple[Fact, ...] = (("ge", b - a - 1),)
        no: tuple[Fact, ...] = (("ge", a - b),)
        return Truth(less, no) if op in ("lt", "gt") else Truth(no, less)

    def all_hold(self, tests: tuple[lp.Test, ...], state: State) -> tuple[Fact, ...]:
        return tuple(f for t in tests for f in self.test(t, state, True))

    def not_all(self, tests: tuple[lp.Test, ...], state: State) -> tuple[Fact, ...]:
        return self.test(tests[0], state, False) if len(tests) == 1 else ()

    def test(self, t: lp.Test, state: State, holds: bool) -> tuple[Fact, ...]:
        if t.poly is None:
            assert t.expr is not None
            return self.truth(t.expr, state).when(holds == (t.kind == "true")) or ()
        p = self.compare(t.poly, state)
        if t.kind == "ge":
            return (("ge", p if holds else -p - 1),)
        return ((("eq" if (t.kind == "eq") == holds else "ne"), p),)

    def compare(self, p: Poly, state: State) -> Poly:
        """What a test looks at: over the integers where it is a comparison, else as the machine computes it (sizes/machine.py)."""
        exact = self.of(p, state)
        return exact if stands_alone(p, lambda a: isinstance(a, lp.VarAtom) and not a.var.small) else self.machine(exact, state)

    def bind(self, var: lp.Var, value: lp.Expr | None, state: State) -> None:
        """The variable is what the expression says; None: nothing is known of it."""
        if var.dtype is BOOL:
            state.bools[var] = Truth() if value is None else self.truth(value, state)
        elif _followed(var.dtype):
            state.values[var] = self.fresh(var.dtype, state, var.name) if value is None else self.value(value, state)


def _followed(dtype: DType) -> bool:
    """Integers that are 64-bit numbers with a sign, or fit in one."""
    return dtype.is_integer and dtype is not U64


_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def near(goal: Poly, known: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """The facts that speak of what the goal speaks of, and of what those speak of."""
    leaves, found = set(goal.leaves()), dict[Poly, None]()
    for _ in range(3):
        fresh = [p for p in known if p not in found and not leaves.isdisjoint(p.leaves())]
        for p in reversed(fresh):
            if len(found) < profit.PROOF_FACTS:
                found[p] = None
        for p in fresh:
            leaves |= p.leaves()
    return tuple(p for p in known if p in found)
