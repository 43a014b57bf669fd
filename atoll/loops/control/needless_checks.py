"""Checks that cannot fail are not made: what conditions, checks before and the state of loops say is known at every statement.

    p = 0
    forever:  break unless p + 1 < k and x[p] != y;  check 0 <= p < k;  p := p + 1
becomes
    p = 0
    forever:  break unless p + 1 < k and x[p] != y;  p := p + 1                         p >= 0 in every round, and p + 1 < k where it is read

A walk over the statements gives every integer variable a value in terms of unknowns (its versions) and keeps what is known of these. A
loop begins with new versions; what holds for them in every round is guessed from the checks inside and kept if it holds before the loop and
a round keeps it (inductive invariants; the guesses that fail are dropped until none does: Houdini). Machine integers wrap around: a sum is
the polynomial only if its bounds say so, else an unknown of its own. A loop whose state turns out to count is written as such (counted.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from atoll.loops import ir as lp
from atoll.loops.control.bounds import Bounds
from atoll.loops.control.counted import counted
from atoll.loops.questions import changed, filled_on_condition
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.machine import stands_alone
from atoll.sizes.prover import facts
from atoll.types.dtypes import BOOL, I64, U64, DType

PROOFS = 3000  # of one function, then nothing more is asked
GUESSES = 24  # invariants tried for a loop
SPLITS = 2  # variables with two possible values that one proof takes apart
MOVED = 4  # elements read before a loop
NEAR = 30  # facts of one proof

Fact = tuple[str, Poly]  # ge, eq or ne, and what is compared with 0
Case = tuple[tuple[Poly, ...], Poly]  # under these facts the value is this


def needless_checks(fn: lp.Function, decisions: list[str]) -> lp.Stmts:
    """The statements of a function without the checks that cannot fail."""
    if not any(isinstance(s, (lp.Check, lp.Forever)) for s in lp.walk(fn.body)):
        return fn.body
    walk = _Walk(Bounds(fn.sizes), filled_on_condition(fn.body))
    state = _State(known=tuple(poly(n) for n in fn.sizes))
    for given in fn.inputs:
        if isinstance(given, lp.Var):
            walk.bind(given, None, state)
    body = walk.block(fn.body, state)
    if walk.gone:
        decisions.append(f"{walk.gone} of {walk.gone + walk.kept} checks cannot fail and are not made")
    if walk.counted:
        decisions.append(f"{walk.counted} loops that count are written as such")
    return body


@dataclass(frozen=True, slots=True)
class _Truth:
    """What is known when a bool holds, and when it does not; None: that cannot be."""

    yes: tuple[Fact, ...] | None = ()
    no: tuple[Fact, ...] | None = ()

    def when(self, holds: bool) -> tuple[Fact, ...] | None:
        return self.yes if holds else self.no


@dataclass(slots=True)
class _State:
    """What is known at a statement: values of variables, and polynomials of versions that are not negative."""

    values: dict[lp.Var, Poly] = field(default_factory=dict)
    bools: dict[lp.Var, _Truth] = field(default_factory=dict)
    known: tuple[Poly, ...] = ()

    def copy(self) -> _State:
        return _State(dict(self.values), dict(self.bools), self.known)

    def add(self, *more: Poly) -> None:
        self.known += tuple(p for p in more if p.const() is None and p not in self.known)


@dataclass(slots=True)
class _Goal:
    """A test that was not proved, and what was learnt since the loop began."""

    goal: Poly
    since: tuple[Poly, ...]


class _Walk:
    def __init__(self, bounds: Bounds, perhaps_empty: set[lp.Buffer]) -> None:
        self.bounds = bounds
        self.perhaps_empty = perhaps_empty  # arrays that may have no values yet
        self.cases: dict[Atom, tuple[Case, Case]] = {}  # versions that have one of several values
        self.made: dict[tuple[str, Poly, Poly], Sym] = {}  # the larger or smaller of two values, by what it is made of
        self.proofs = PROOFS
        self.goals: list[_Goal] | None = None  # collected where invariants are guessed
        self.start = 0  # of what was learnt in the loop that is looked at
        self.exits: list[list[_State]] = []
        self.guessed: dict[int, list[Poly]] = {}  # for every loop, in terms of its variables
        self.indices: list[Sym] = []  # of the loops around
        self.looking = 0  # loops around that are looked at and not rewritten
        self.gone = self.kept = self.counted = 0

    # -- proofs

    def proves(self, goal: Poly, known: tuple[Poly, ...], splits: int = SPLITS) -> bool:
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

    def assume(self, found: tuple[Fact, ...] | None, state: _State) -> None:
        for kind, p in found or ():
            self.add(kind, p, state)
            state.add(*self.bounds.settled(p, state.known))

    def add(self, kind: str, p: Poly, state: _State) -> None:
        if kind == "ge":
            state.add(p)
        elif kind == "eq":
            state.add(p, -p)
        elif p.const() is None:  # i != 0 where i >= 0 is i >= 1
            sign = 1 if self.proves(p, state.known, 0) else -1 if self.proves(-p, state.known, 0) else 0
            if sign:
                state.add(p * sign - 1)

    # -- values

    def fresh(self, dtype: DType, state: _State, name: str = "v") -> Poly:
        version = Sym(name)
        if dtype is not I64 and _followed(dtype):
            low, high = dtype.limits()
            state.add(poly(version) - low, high - poly(version))
        return poly(version)

    def machine(self, p: Poly, state: _State) -> Poly:
        """What a sum of 64-bit integers is on the machine."""
        return self.bounds.wrapped(p, state.known)

    def index(self, p: Poly, state: _State) -> Poly:
        return self.machine(self.of(p, state), state)

    def of(self, p: Poly, state: _State) -> Poly:
        env: dict[Atom, Poly] = {}
        for leaf in p.leaves():
            if isinstance(leaf, lp.VarAtom):
                env[leaf] = state.values[leaf.var] if leaf.var in state.values else poly(Sym(leaf.var.name))
        return p.subst(env) if env else p

    def value(self, e: lp.Expr, state: _State) -> Poly:
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

    def arithmetic(self, p: Poly, dtype: DType, state: _State) -> Poly:
        if dtype is I64:
            return self.machine(p, state)
        return p if self.bounds.within(p, state.known, *dtype.limits()) else self.fresh(dtype, state)

    def choice(self, tests: tuple[lp.Test, ...], then: lp.Expr, orelse: lp.Expr, state: _State) -> Poly:
        first, second = state.copy(), state.copy()
        self.assume(self.all_hold(tests, first), first)
        self.assume(self.not_all(tests, second), second)
        a, b = self.value(then, first), self.value(orelse, second)
        if a == b:
            return a
        return self.either((first.known[len(state.known) :], a), (second.known[len(state.known) :], b), state)

    def either(self, first: Case, second: Case, state: _State, made_of: tuple[str, Poly, Poly] | None = None) -> Poly:
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

    def extreme(self, op: str, a: Poly, b: Poly, dtype: DType, state: _State) -> Poly:
        larger, smaller = ((b - a,), (a - b,)) if op == "min" else ((a - b,), (b - a,))
        found = self.either((larger, a), (smaller, b), state, (op, a, b))
        for x in (a, b):
            state.add(x - found if op == "min" else found - x)
        return found

    def extent(self, a: Poly, b: Poly, state: _State) -> Poly:
        """How many numbers there are from a to b: none, or b - a, or as many as the machine can count where that is more."""
        many: Poly = b - a
        more: tuple[Poly, ...] = (many - 1,)
        if not self.bounds.within(many, state.known, -(1 << 63), (1 << 63) - 1):
            many = poly(Sym("k"))
            more += (many - 1, b - a - many)
        found = self.either((more, many), ((a - b,), poly(0)), state, ("extent", a, b))
        state.add(found)
        return found

    def divided(self, op: str, a: Poly, b: Poly, dtype: DType, state: _State) -> Poly:
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

    def truth(self, e: lp.Expr, state: _State) -> _Truth:
        match e:
            case lp.Const(value, _):
                return _Truth((), None) if value else _Truth(None, ())
            case lp.Use(var):
                return state.bools.get(var, _Truth())
            case lp.Truth(tests):
                return _Truth(self.all_hold(tests, state), self.not_all(tests, state))
            case lp.Call(op, (a, b), _) if op in _COMPARED and _followed(a.dtype):
                return self.compared(op, self.value(a, state), self.value(b, state))
            case lp.Call("not", (a,), _):
                found = self.truth(a, state)
                return _Truth(found.no, found.yes)
            case lp.Call(op, (a, b), _) if op in ("and", "or") and a.dtype is BOOL:
                x, y = self.truth(a, state), self.truth(b, state)
                if op == "and":
                    return _Truth(None if x.yes is None or y.yes is None else (*x.yes, *y.yes), y.no if x.no is None else x.no if y.no is None else ())
                return _Truth(y.yes if x.yes is None else x.yes if y.yes is None else (), None if x.no is None or y.no is None else (*x.no, *y.no))
            case lp.Choose(tests, then, orelse):
                yes, no = self.all_hold(tests, state), self.not_all(tests, state)
                return self.one_of(yes, self.truth(then, state), no, self.truth(orelse, state))
        return _Truth()

    def one_of(self, yes: tuple[Fact, ...], a: _Truth, no: tuple[Fact, ...], b: _Truth) -> _Truth:
        """The truth of a where `yes` is known, of b where `no` is."""

        def joined(x: tuple[Fact, ...] | None, y: tuple[Fact, ...] | None) -> tuple[Fact, ...] | None:
            if x is None or y is None:
                return None if x is None and y is None else (*no, *y) if x is None and y is not None else (*yes, *(x or ()))
            both = (*no, *y)
            return tuple(f for f in (*yes, *x) if f in both)

        return _Truth(joined(a.yes, b.yes), joined(a.no, b.no))

    def compared(self, op: str, a: Poly, b: Poly) -> _Truth:
        if op in ("eq", "ne"):
            same, other = (("eq", a - b),), (("ne", a - b),)
            return _Truth(same, other) if op == "eq" else _Truth(other, same)
        if op in ("gt", "le"):
            a, b = b, a
        less: tuple[Fact, ...] = (("ge", b - a - 1),)
        no: tuple[Fact, ...] = (("ge", a - b),)
        return _Truth(less, no) if op in ("lt", "gt") else _Truth(no, less)

    def all_hold(self, tests: tuple[lp.Test, ...], state: _State) -> tuple[Fact, ...]:
        return tuple(f for t in tests for f in self.test(t, state, True))

    def not_all(self, tests: tuple[lp.Test, ...], state: _State) -> tuple[Fact, ...]:
        return self.test(tests[0], state, False) if len(tests) == 1 else ()

    def test(self, t: lp.Test, state: _State, holds: bool) -> tuple[Fact, ...]:
        if t.poly is None:
            assert t.expr is not None
            return self.truth(t.expr, state).when(holds == (t.kind == "true")) or ()
        p = self.compare(t.poly, state)
        if t.kind == "ge":
            return (("ge", p if holds else -p - 1),)
        return ((("eq" if (t.kind == "eq") == holds else "ne"), p),)

    def compare(self, p: Poly, state: _State) -> Poly:
        """What a test looks at: over the integers where it is a comparison, else as the machine computes it (sizes/machine.py)."""
        exact = self.of(p, state)
        return exact if stands_alone(p, lambda a: isinstance(a, lp.VarAtom) and not a.var.small) else self.machine(exact, state)

    # -- statements

    def bind(self, var: lp.Var, value: lp.Expr | None, state: _State) -> None:
        if var.dtype is BOOL:
            state.bools[var] = _Truth() if value is None else self.truth(value, state)
        elif _followed(var.dtype):
            state.values[var] = self.fresh(var.dtype, state, var.name) if value is None else self.value(value, state)

    def block(self, stmts: lp.Stmts, state: _State) -> lp.Stmts:
        out: list[lp.Stmt] = []
        for s in stmts:
            out += self.stmt(s, state)
        return out

    def stmt(self, s: lp.Stmt, state: _State) -> lp.Stmts:
        match s:
            case lp.Let(var, value) | lp.Declare(var, value) | lp.Assign(var, value):
                self.bind(var, value, state)
            case lp.Check():
                return self.check(s, state)
            case lp.If(tests, then, orelse):
                first, second = state.copy(), state.copy()
                self.assume(self.all_hold(tests, first), first)
                self.assume(self.not_all(tests, second), second)
                made = lp.If(tests, self.block(then, first), self.block(orelse, second))
                self.join(first, second, state)
                return [made] if made.then or made.orelse else []
            case lp.BreakUnless(tests):
                left = state.copy()
                self.assume(self.not_all(tests, left), left)
                self.exits[-1].append(left)
                self.assume(self.all_hold(tests, state), state)
            case lp.For() | lp.Forever():
                return self.loop(s, state)
            case lp.Helper() if s.result is not None:
                self.bind(s.result, None, state)
            case lp.Accumulate() | lp.Chunks():
                self.forget(s, state)
                inside = state.copy()
                self.told(s, inside)
                around = [s.low, s.high] if isinstance(s, lp.Chunks) else [s.sym]
                self.indices += around
                made_body = self.block(s.body, inside)
                del self.indices[-len(around) :]
                for acc in s.accs:
                    self.bind(acc.var, None, state)
                return [replace(s, body=made_body)] if made_body or s.accs or (isinstance(s, lp.Chunks) and s.buffers) else []
        return [s]

    def check(self, s: lp.Check, state: _State) -> lp.Stmts:
        left: list[lp.Test] = []
        for t in s.tests:
            found = self.test(t, state, True)
            if t.kind in ("ge", "ne") and t.poly is not None and self.holds(found[0], state):
                continue
            left.append(t)
            if self.goals is not None and t.kind == "ge":
                self.goals.append(_Goal(found[0][1], state.known[self.start :]))
        for t in s.tests:
            self.assume(self.test(t, state, True), state)
        if not self.looking:
            self.gone, self.kept = self.gone + (not left), self.kept + bool(left)
        return [s if len(left) == len(s.tests) else lp.Check(tuple(left), s.site, s.args, instance=s.instance)] if left else []

    def holds(self, fact: Fact, state: _State) -> bool:
        kind, p = fact
        if kind == "ge":
            return self.proves(p, state.known)
        return self.proves(p - 1, state.known) or self.proves(-p - 1, state.known)

    def join(self, first: _State, second: _State, state: _State) -> None:
        """After a condition: what one of its branches left."""
        before = len(state.known)
        new = [first.known[before:], second.known[before:]]
        state.add(*(p for p in new[0] if p in new[1]))
        for var, old in list(state.values.items()):
            a, b = first.values[var], second.values[var]
            if a is not old or b is not old:
                state.values[var] = a if a == b else self.either((new[0], a), (new[1], b), state)
        for var in list(state.bools):
            x, y = first.bools[var], second.bools[var]
            if x is not y:
                ge: list[tuple[Fact, ...]] = [tuple(("ge", p) for p in some) for some in new]
                state.bools[var] = self.one_of(ge[0], x, ge[1], y)

    def told(self, s: lp.For | lp.Accumulate | lp.Chunks, state: _State) -> None:
        if isinstance(s, lp.Chunks):
            state.add(poly(s.low), self.index(s.extent, state) - s.high, poly(s.high) - s.low)
        else:
            low, high = self.index(s.low, state), self.index(s.high, state)
            state.add(poly(s.sym) - low, high - s.sym - 1)
            self.decide(high, low, state)

    def decide(self, high: Poly, low: Poly, state: _State) -> None:
        """There is a round: of the values that the end may have, those up to the beginning are none, and what one is left says is known."""
        for leaf in sorted(high.leaves() & self.cases.keys(), key=lambda a: a.uid):
            left = [(given, value) for given, value in self.cases[leaf] if not self.proves(low - high.subst({leaf: value}), (*state.known, *given), 0)]
            if len(left) == 1:
                given, value = left[0]
                state.add(*given, poly(leaf) - value, value - leaf)

    def forget(self, s: lp.Stmt, state: _State) -> list[lp.Var]:
        """Variables that a loop assigns begin a round with values of their own."""
        changed = [v for v in dict.fromkeys(x.var for x in lp.walk([s]) if isinstance(x, (lp.Assign, lp.Add))) if v in state.values or v in state.bools]
        for var in changed:
            self.bind(var, None, state)
        return [v for v in changed if v in state.values]

    # -- loops

    def loop(self, s: lp.For | lp.Forever, state: _State) -> lp.Stmts:
        before = state.copy()
        numbers = self.forget(s, state)
        heads = {v: state.values[v] for v in numbers}
        checks = any(isinstance(x, lp.Check) for x in lp.walk(s.body))
        kept = self.invariants(s, before, state, heads) if numbers and checks else []
        state.add(*(self.of(p, state) for p in kept))
        end, body = self.round(s, state.copy())
        exits = self.exits.pop()
        if isinstance(s, lp.For):
            for var in numbers:
                state.values[var] = self.fresh(var.dtype, state, var.name)
            state.add(*(self.of(p, state) for p in kept))
        elif len(exits) == 1:
            left = exits[0]
            state.known = left.known
            state.values = {v: left.values[v] for v in state.values}
            state.bools = {v: left.bools[v] for v in state.bools}
        else:
            self.forget(s, state)
        if self.looking:
            return []
        first, body = self.first(s, body, before)
        if isinstance(s, lp.Forever):
            steps = {v: (end.values[v] - value).const() for v, value in heads.items()}
            found = counted(body, {v: step for v, step in steps.items() if step}, lambda p: self.bounds.within(self.of(p, before), before.known, -(1 << 62), 1 << 62))
            if found is not None:
                self.counted += 1
                return [*first, *found]
        return [*first, replace(s, body=body)] if body or isinstance(s, lp.Forever) else []

    def first(self, s: lp.For | lp.Forever, body: lp.Stmts, before: _State) -> tuple[lp.Stmts, lp.Stmts]:
        """Elements that are the same in every round and there in any case are read before the loop, although a round may need them under a
        condition only (loop-invariant code motion, of what C compilers do not dare to move); and the body without them."""
        made, written = changed(body)
        moved: list[lp.Stmt] = []

        def go(stmts: lp.Stmts) -> lp.Stmts:
            out: list[lp.Stmt] = []
            for x in stmts:
                if isinstance(x, lp.Let) and isinstance(x.value, lp.Load) and len(moved) < MOVED and self.there(x.value, s, made, written, before):
                    moved.append(x)
                elif isinstance(x, lp.If):
                    out.append(lp.If(x.tests, go(x.then), go(x.orelse)))
                else:
                    out.append(x)
            return out

        if isinstance(s, lp.For) and s.parallel:
            return [], body
        return moved, go(body)

    def there(self, load: lp.Load, s: lp.For | lp.Forever, made: set[lp.Var], written: set[lp.Buffer], before: _State) -> bool:
        leaves = {a for p in load.index for a in p.leaves()}
        if load.buffer in self.perhaps_empty:
            return False
        if load.buffer in written or load.buffer.rows is not None or not made.isdisjoint(lp.used_vars(load.index)) or (isinstance(s, lp.For) and s.sym in leaves):
            return False
        if any(isinstance(a, Sym) and a not in self.bounds.fixed and a not in self.indices for a in leaves):
            return False
        for p, size in zip(load.index, load.buffer.extents, strict=True):
            at, end = self.index(p, before), self.of(size, before)
            if not (self.proves(at, before.known) and self.proves(end - at - 1, before.known)):
                return False
        return True

    def round(self, s: lp.For | lp.Forever, inside: _State) -> tuple[_State, lp.Stmts]:
        """One round from a state at its beginning: the state at its end, and the body."""
        self.exits.append([])
        if isinstance(s, lp.For):
            self.told(s, inside)
            self.indices.append(s.sym)
        body = self.block(s.body, inside)
        if isinstance(s, lp.For):
            self.indices.pop()
        return inside, body

    def invariants(self, s: lp.For | lp.Forever, before: _State, state: _State, heads: dict[lp.Var, Poly]) -> list[Poly]:
        """What holds at the beginning of every round, over the variables of the loop."""
        self.looking += 1
        if id(s) not in self.guessed:
            self.guessed[id(s)] = self.guesses(s, state, heads)
        kept = [p for p in self.guessed[id(s)] if self.proves(self.of(p, before), before.known)]
        while kept and self.proofs > 0:
            inside = state.copy()
            inside.add(*(self.of(p, inside) for p in kept))
            goals, self.goals = self.goals, None
            end, _ = self.round(s, inside)
            self.goals = goals
            self.exits.pop()
            still = [p for p in kept if self.proves(self.of(p, end), end.known)]
            if len(still) == len(kept):
                break
            kept = still
        if self.proofs <= 0:
            kept = []
        self.looking -= 1
        return kept

    def guesses(self, s: lp.For | lp.Forever, state: _State, heads: dict[lp.Var, Poly]) -> list[Poly]:
        """Tests that were not proved, and what is left of them when a condition around them is taken away."""
        goals, start = self.goals, self.start
        self.goals, self.start = [], len(state.known)
        self.round(s, state.copy())
        self.exits.pop()
        found, self.goals, self.start = self.goals, goals, start
        names: dict[Atom, Poly] = {}
        for var, value in state.values.items():
            if len(value.terms) == 1 and value.const() is None and len(value.leaves()) == 1 and value == poly(next(iter(value.leaves()))):
                names.setdefault(next(iter(value.leaves())), poly(var.atom))
        own = {leaf for p in heads.values() for leaf in p.leaves()}
        out: dict[Poly, None] = {}
        for goal in found:
            for p in (goal.goal, *(rest for t in goal.since for rest in _without(goal.goal, t))):
                leaves = p.leaves()
                if leaves & own and all(a in names or a in self.bounds.fixed or a in self.indices for a in leaves):
                    for q in (p, p + 1):
                        out[q.subst({a: names[a] for a in leaves if a in names})] = None
        ends = dict.fromkeys(Poly({m: c for m, c in goal.goal.terms.items() if m and self.bounds.fixed.issuperset(m)}) for goal in found)
        for var in heads if found else ():  # within what is indexed, although a check may look at something made of it
            out.update(dict.fromkeys((poly(var.atom), *(end - var.atom for end in ends if end.terms))))
        return list(out)[:GUESSES]


def _followed(dtype: DType) -> bool:
    """Integers that are 64-bit numbers with a sign, or fit in one."""
    return dtype.is_integer and dtype is not U64


_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def _without(goal: Poly, fact: Poly) -> list[Poly]:
    """The goal with a fact subtracted that has an unknown in common with it, of the same sign."""
    for atom in sorted(goal.leaves() & fact.leaves(), key=lambda a: a.uid):
        a, b = goal.terms.get((atom,), 0), fact.terms.get((atom,), 0)
        if a * b > 0 and a % b == 0:
            return [goal - fact * (a // b)]
    return []


def near(goal: Poly, known: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """The facts that speak of what the goal speaks of, and of what those speak of."""
    leaves, found = set(goal.leaves()), dict[Poly, None]()
    for _ in range(3):
        fresh = [p for p in known if p not in found and not leaves.isdisjoint(p.leaves())]
        for p in reversed(fresh):
            if len(found) < NEAR:
                found[p] = None
        for p in fresh:
            leaves |= p.leaves()
    return tuple(p for p in known if p in found)
